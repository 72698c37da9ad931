import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

type ByteOrder = 'le' | 'be';

/** Encodes text as UTF-16 with a BOM. The default is little-endian, as in files that `>` and `Out-File` write in PowerShell 5.1. */
function utf16(text: string, order: ByteOrder = 'le'): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

describe('a config file as the programs of Windows left it', () => {
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
});
