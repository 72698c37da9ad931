import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

type ByteOrder = 'le' | 'be';

/** Encodes text as UTF-16 with a BOM. The default is little-endian, as in files that `>` and `Out-File` write in PowerShell 5.1. */
function utf16(text: string, order: ByteOrder = 'le'): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

describe('a config file as the programs of Windows, and installers of several releases, left it', () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = new Workspace();
  });
  afterAll(() => workspace[Symbol.dispose]());
  const check = (content: string | Buffer) => {
    const file = workspace.write('config', content);
    return runWins(['srv', 'config', 'check', '--config', file], workspace.environment);
  };
  const LINES = ['# é', 'debug: on', 'white_list:', '  processPaths: [/usr/bin/true]', ''];

  it.each<ByteOrder>(['le', 'be'])('is in UTF-16%s: it is checked, and served', async (order) => {
    const text = LINES.join('\r\n');
    const { code, stderr } = await check(utf16(text, order));
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('found')]);
    await using daemon = await Daemon.start(workspace, workspace.path('config'));
    await daemon.ready();
    const words = ['cli', 'prc', 'run', '--path', '/usr/bin/true'];
    expect((await runWins(words, workspace.environment)).code).toBe(0);
    const wrong = await check(utf16(`${text}listen: ""\r\n`, order));
    expect([wrong.code, wrong.stderr]).toEqual([78, expect.stringMatching(/config:5:9: listen: /)]);
  });

  it.each(['\r\n', '\r', '\r\r\n', '\u0085'])(
    'has the line ends %j, and the same locations',
    async (end) => {
      const { code } = await check(LINES.join(end));
      expect(code).toBe(0);
      const wrong = await check([...LINES.slice(0, -1), 'listen: ""', ''].join(end));
      expect([wrong.code, wrong.stderr]).toEqual([
        78,
        expect.stringMatching(/config:5:9: listen: /),
      ]);
    },
  );

  it('is in an encoding that no release reads: it is named', async () => {
    const utf32 = Buffer.from([0xff, 0xfe, 0, 0, 0x23, 0, 0, 0]);
    for (const [bytes, name] of [
      [utf32, 'UTF-32'],
      [Buffer.from('# é', 'latin1'), 'the byte 0xe9'],
      [Buffer.from('debug: on', 'utf16le'), 'UTF-16 or UTF-32 without a byte order mark'],
    ] as const) {
      const { code, stderr } = await check(bytes);
      expect(code).toBe(78);
      expect(stderr).toContain(name);
      expect(stderr).toContain('expected UTF-8, or UTF-16 with a byte order mark');
    }
  });

  it('may end with empty documents, but not with one that has content', async () => {
    expect((await check(`${LINES.join('\n')}---\n`)).code).toBe(0);
    const second = await check(`${LINES.join('\n')}---\nlisten: x\n`);
    expect([second.code, second.stderr]).toEqual([78, expect.stringContaining('second document')]);
  });

  it('may contain a byte order mark: the key is ignored as before, with a warning', async () => {
    const { code, stderr } = await check(`${LINES.join('\n')}\uFEFFlisten: x\n`);
    expect(code).toBe(0);
    expect(stderr).toContain('5:1: listen: found a byte order mark before "listen"');
  });

  it('has a key under two spellings: no more is granted than later releases grant', async () => {
    const old =
      'whiteList:\n  processPaths: [/usr/bin/true, /usr/bin/env]\n  proxyPorts: [80, 443]\n';
    const later = 'white_list:\n  processPaths: [/usr/bin/true]\n  proxyPorts: [0x50]\n';
    for (const [text, line, other] of [
      [`${old}${later}`, 1, 4],
      [`${later}${old}`, 4, 1],
    ] as const) {
      const { code, stderr } = await check(text);
      expect(code).toBe(0);
      expect(stderr).toContain(
        `config:${line}:1: white_list: found "whiteList" beside "white_list" in line ${other}, column 1, which has another value, which is used`,
      );
      await using daemon = await Daemon.start(workspace, workspace.path('config'));
      await daemon.ready();
      const run = (path: string) =>
        runWins(['cli', 'prc', 'run', '--path', path], workspace.environment);
      expect((await run('/usr/bin/true')).code).toBe(0);
      expect((await run('/usr/bin/env')).code).toBe(126);
    }
    const same = await check(`${later}${later.replace('white_list', 'whiteList')}`);
    expect([same.code, same.stderr]).toEqual([0, expect.stringContaining('the same value')]);
  });
});
