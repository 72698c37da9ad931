import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { startRequest } from '../testing/digests.js';
import { WINS, Workspace } from '../testing/workspace.js';

describe('wins cli deliver', () => {
  let workspace: Workspace;
  let from: string;
  let to: string;
  beforeEach(() => {
    workspace = new Workspace();
    from = workspace.write('image/wins', 'new bytes', 0o755);
    to = workspace.path('host folder', 'wins “upgrade”');
    mkdirSync(workspace.path('host folder'));
  });
  afterEach(() => workspace[Symbol.dispose]());

  const deliver = async (...args: string[]) => {
    const words = ['cli', 'deliver', '--from', from, '--to', to, ...args];
    const { code, stdout, stderr } = await runWins(words, workspace.environment);
    return { code, stdout: stdout.toString(), stderr };
  };
  const folder = () => readdirSync(workspace.path('host folder'));
  const digest = () => startRequest(from).checksumSha256;

  it('makes the file that was not there, as executable as the source', async () => {
    expect(await deliver()).toEqual({
      code: 0,
      stdout: `wins: delivered: ${to} ${digest()}\n`,
      stderr: '',
    });
    expect(readFileSync(to, 'utf8')).toBe('new bytes');
    expect(statSync(to).mode & 0o777).toBe(0o755);
    expect(folder()).toHaveLength(1);
  });

  it('takes from others the right to write that the source gives', async () => {
    chmodSync(from, 0o777);
    expect((await deliver()).code).toBe(0);
    expect(statSync(to).mode & 0o777).toBe(0o755);
  });

  it('replaces a file, which keeps its mode, but not hard links to its bytes', async () => {
    writeFileSync(to, 'old bytes', { mode: 0o600 });
    const other = workspace.path('other name');
    linkSync(to, other);
    expect((await deliver()).code).toBe(0);
    expect(readFileSync(to, 'utf8')).toBe('new bytes');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(readFileSync(other, 'utf8')).toBe('old bytes');
  });

  it('does nothing when the same bytes are there', async () => {
    await deliver();
    const before = statSync(to, { bigint: true });
    expect(await deliver('--sha256', digest().toUpperCase(), '--settle', '24h')).toEqual({
      code: 0,
      stdout: `wins: unchanged: ${to} ${digest()}\n`,
      stderr: '',
    });
    const { ino, ctimeNs } = statSync(to, { bigint: true });
    expect({ ino, ctimeNs }).toEqual({ ino: before.ino, ctimeNs: before.ctimeNs });
  });

  it('follows the links by which a config map is mounted', async () => {
    mkdirSync(workspace.path('map', '..2026'), { recursive: true });
    writeFileSync(workspace.path('map', '..2026', 'config'), 'debug: true\n');
    symlinkSync('..2026', workspace.path('map', '..data'));
    symlinkSync('..data/config', workspace.path('map', 'config'));
    from = workspace.path('map', 'config');
    expect((await deliver()).code).toBe(0);
    expect(lstatSync(to).isFile()).toBe(true);
    expect(readFileSync(to, 'utf8')).toBe('debug: true\n');
  });

  it('delivers nothing but the bytes that were pinned', async () => {
    const wanted = 'a'.repeat(64);
    const { code, stderr } = await deliver('--sha256', wanted);
    expect(code).toBe(126);
    expect(stderr).toBe(
      `wins: cannot deliver ${from} to ${to}: ${from} has the SHA-256 ${digest()}; wanted ${wanted}\n`,
    );
    expect(folder()).toEqual([]);
  });

  it.each([
    ['a link', () => symlinkSync(workspace.write('elsewhere', 'untouched'), to)],
    ['a link to nothing', () => symlinkSync('nowhere', to)],
    ['a folder', () => mkdirSync(to)],
    ['a FIFO', () => execFileSync('/usr/bin/mkfifo', [to])],
  ])('refuses a target that is %s', async (_kind, make) => {
    make();
    const before = lstatSync(to).ino;
    const { code, stderr } = await deliver();
    expect(code).toBe(126);
    expect(stderr).toContain('not a regular file');
    expect(lstatSync(to).ino).toBe(before);
    expect(folder()).toHaveLength(1);
  });

  it.each([
    ['a folder', 126, 'not a regular file', () => mkdirSync(from)],
    ['a FIFO', 126, 'not a regular file', () => execFileSync('/usr/bin/mkfifo', [from])],
    ['missing', 127, 'no such file', () => undefined],
    [
      'larger than any release',
      126,
      'more than 536870912 bytes',
      () => {
        writeFileSync(from, '');
        truncateSync(from, 512 * 1024 * 1024 + 1);
      },
    ],
  ])('refuses a source that is %s', async (_kind, code, text, make) => {
    renameSync(from, `${from}.away`);
    make();
    const outcome = await deliver();
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(text);
    expect(folder()).toEqual([]);
  });

  it('creates no folder, because a container must not decide who may use it', async () => {
    to = workspace.path('host folder', 'missing', 'wins');
    const { code, stderr } = await deliver();
    expect(code).toBe(127);
    expect(stderr).toContain(
      `the folder ${workspace.path('host folder', 'missing')} does not exist`,
    );
    expect(folder()).toEqual([]);
  });

  it('leaves the old file, and nothing else, when the disk is full', () => {
    writeFileSync(to, 'old bytes');
    truncateSync(from, 4 * 1024 * 1024);
    // A limit on file sizes makes writes fail, as a full disk would.
    const script = `trap '' XFSZ; ulimit -f 1024; exec "$0" "$@"`;
    const words = ['cli', 'deliver', '--from', from, '--to', to];
    const shell = () =>
      execFileSync('/bin/sh', ['-c', script, process.execPath, WINS, ...words], {
        env: workspace.environment,
        stdio: 'pipe',
      });
    expect(shell).toThrow(expect.objectContaining({ status: 125 }) as Error);
    expect(readFileSync(to, 'utf8')).toBe('old bytes');
    expect(folder()).toHaveLength(1);
  });

  it('removes leftovers of an earlier delivery once it can no longer be in progress', async () => {
    const left = (name: string, ageMs: number) => {
      const file = workspace.write(`host folder/${name}`, 'half');
      const then = new Date(Date.now() - ageMs);
      utimesSync(file, then, then);
      return name;
    };
    const name = 'wins “upgrade”';
    left(`.${name}.0123456789abcdef.new`, 3_600_000);
    const kept = [
      left(`.${name}.0123456789abcdee.new`, 0),
      left('.other.0123456789abcdef.new', 3_600_000),
      left(`.${name}.mine.new`, 3_600_000),
    ];
    expect((await deliver()).code).toBe(0);
    expect(folder().sort()).toEqual([...kept, name].sort());
  });
});

describe('wins srv config check --content-only', () => {
  it('wants the file to be there, and takes no unknown key', async () => {
    using workspace = new Workspace();
    const check = (file: string) =>
      runWins(
        ['srv', 'config', 'check', '--content-only', '--config', file],
        workspace.environment,
      );
    const missing = await check(workspace.path('none'));
    expect([missing.code, missing.stderr]).toEqual([78, expect.stringContaining('no such file')]);
    const wrong = await check(workspace.write('wrong', 'lisen: pipe\n'));
    expect([wrong.code, wrong.stderr]).toEqual([78, expect.stringContaining('lisen')]);
    const right = await check(workspace.write('right', 'white_list: { processPaths: [/a] }\n'));
    expect([right.code, right.stderr]).toEqual([0, '']);
  });
});
