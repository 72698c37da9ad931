import { runWins, startWins } from '../testing/built-program.js';
import { Workspace } from '../testing/workspace.js';

describe('the command line', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());
  const wins = (...args: string[]) => runWins(args, workspace.environment);

  it.each([['--version'], ['-v'], ['-version'], ['cli', '--version'], ['srv', '--version']])(
    'says the release: wins %s %s',
    async (...args) => {
      const { code, stdout } = await wins(...args);
      expect(code).toBe(0);
      expect(stdout.toString()).toMatch(/^rancher-wins version v\d+\.\d+\.\d+\n$/);
    },
  );

  it.each([
    [[], 'wins cli'],
    [['--help'], 'wins srv'],
    [['cli', '--help'], 'prc'],
    [['cli', 'prc', 'run', '--help'], '--exposes'],
    [['client', 'process', 'run', '-h'], '--exposes'],
    [['cli', 'net', 'get', '--help'], '--address'],
    [['cli', 'deliver', '--help'], '--sha256'],
    [['cli', 'host', '--help'], 'get-version'],
    [['srv', 'config', '--help'], 'schema'],
  ])('helps: wins %j', async (args, text) => {
    const { code, stdout } = await wins(...args);
    expect(code).toBe(0);
    expect(stdout.toString()).toContain(text);
  });

  it.each([[['srv', 'config', 'schema']], [['doctor']], [['cli', '--help']]])(
    'is not troubled by a reader that leaves: %j',
    async (words) => {
      const program = startWins(words, workspace.environment);
      program.child.stdout?.destroy();
      expect((await program.outcome).stderr).toBe('');
    },
  );

  it.each([
    [['nonsense'], 125, 'nonsense'],
    [['cli'], 125, 'app, prc, proxy, explain, upgrade, deliver, hst, net, hns or route'],
    [['cli', 'hst'], 125, 'get-version'],
    [['cli', 'route', 'add'], 125, '--addresses'],
    [['cli', 'route', 'add', '--addresses', ' '], 125, 'empty'],
    [['cli', 'route', 'rm', '--addresses', '8.8.8.8 host'], 125, 'host'],
    [['cli', 'net', 'get', '--name', 'a', '--address', 'b'], 125, 'not by both'],
    [['cli', 'hns', 'get-network'], 125, '--name or --address'],
    [['cli', 'nonsense'], 125, 'nonsense'],
    [['cli', 'prc', 'ls', '-o', 'xml'], 125, 'xml'],
    [['cli', 'prc', 'ls', '--wait-timeout', 'soon'], 125, 'soon'],
    [['cli', 'prc', 'ls', '--wait-timeout', '900h'], 125, 'from 0s to 1d'],
    [['cli', 'prc', 'ls', '--server', '\\\\host\\pipe\\x'], 125, 'host'],
    [['cli', 'proxy'], 125, '--publish'],
    [['cli', 'upgrade', '--path', 'a', '--once', 'a b'], 125, '"a b" is not a name'],
    [['cli', 'deliver', '--from', 'a'], 125, 'to'],
    [['cli', 'deliver', '--from', 'a', '--to', 'b', '--sha256', 'abc'], 125, '64 hexadecimal'],
    [
      ['cli', 'deliver', '--from', 'a', '--to', 'b', '--settle', 'soon'],
      125,
      '--settle: found "soon"',
    ],
    [['srv', 'app'], 64, 'run'],
    [['srv', 'app', 'run', '--confg', 'x'], 64, 'confg'],
    [['completion', 'fish'], 125, 'fish'],
  ])('says in one line what makes no sense in wins %j', async (args, code, text) => {
    const outcome = await wins(...args);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(/^wins: [^\n]+\n$/);
    expect(outcome.stderr).toContain(text);
  });

  it('completes commands and options', async () => {
    const complete = async (...words: string[]) =>
      (await wins('--get-yargs-completions', 'wins', ...words)).stdout.toString();
    expect(await complete('')).toContain('srv');
    expect(await complete('cli', 'prc', '')).toContain('run');
    expect(await complete('cli', 'prc', 'run', '--')).toContain('--path');
    expect(await complete('cli', 'proxy', '--')).toContain('--publish');
    expect(await complete('cli', 'deliver', '--')).toContain('--settle');
    expect(await complete('cli', 'route', '')).toContain('rm');
    expect(await complete('cli', 'route', 'add', '--')).toContain('--addresses');
    expect(await complete('srv', 'config', '')).toContain('check');
  });

  it.each(['--quiet', '-quiet', '--quiet=true'])(
    'prints nothing but the exit code when told to be quiet: %s',
    async (word) => {
      const { code, stderr } = await wins(word, 'cli', 'app', 'info');
      expect(code).toBe(125);
      expect(stderr).toBe('');
    },
  );

  it.each([
    ['after --', ['--', '--quiet', '--debug']],
    ['as the value of another option', ['--args', '--quiet']],
  ])('does not take for its own what is said to a program: %s', async (_where, words) => {
    const { code, stderr } = await wins('cli', 'prc', 'run', '--path', '/absent', ...words);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/^wins: [^\n]*absent[^\n]*\n$/);
  });
});
