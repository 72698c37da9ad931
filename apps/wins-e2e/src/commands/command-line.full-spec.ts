import { runWins, startWins } from '../testing/built-program.js';
import { Workspace } from '../testing/workspace.js';

describe('the command line', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());
  const wins = (...args: string[]) => runWins(args, workspace.environment);

  it.each([
    ['--version'],
    ['-v'],
    ['-version'],
    ['version'],
    ['cli', '--version'],
    ['srv', '--version'],
  ])('says the release: wins %s %s', async (...args) => {
    const { code, stdout } = await wins(...args);
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/^rancher-wins version v\d+\.\d+\.\d+\n$/);
  });

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
    [['help'], 'wins srv'],
    [['help', 'cli', 'prc', 'run'], '--exposes'],
    [['up', '-h'], '--allow-downgrade'],
    [['completion', '--help'], 'wins completion zsh > "${fpath[1]}/_wins"'],
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
    [['help', 'nonsense'], 64, 'nonsense'],
    [['cli'], 64, 'app, prc, proxy, explain, upgrade, deliver, hst, net, hns or route'],
    [['cli', 'hst'], 64, 'get-version'],
    [['cli', 'prc', 'rn'], 64, 'did you mean "run"? Run \'wins help cli prc\' for its commands'],
    [['cli', 'route', 'add'], 64, '--addresses'],
    [['cli', 'route', 'add', '--addresses', ' '], 64, 'empty'],
    [['cli', 'route', 'rm', '--addresses', '8.8.8.8 host'], 64, 'host'],
    [['cli', 'net', 'get', '--name', 'a', '--address', 'b'], 64, '--address cannot be combined'],
    [['cli', 'hns', 'get-network'], 64, '--name or --address'],
    [['cli', 'nonsense'], 64, 'nonsense'],
    [['cli', 'prc', 'ls', '--wait-timeout', 'soon'], 64, 'soon'],
    [['cli', 'prc', 'ls', '--server', '\\\\host\\pipe\\x'], 125, 'host'],
    [['cli', 'prc', 'run', '--path', '/a', '--dir'], 125, 'option --dir needs a value'],
    [['cli', 'prc', 'run', '--path', '/a', '--args', "it's"], 125, 'is not closed'],
    [['cli', 'proxy'], 64, '--publish'],
    [['cli', 'proxy', '--publish', 'SCTP:1'], 64, 'SCTP:1'],
    [
      ['cli', 'upgrade', '--path', 'a', '--once', 'a b'],
      64,
      '--once: found "a b"; wanted up to 48 letters',
    ],
    [['cli', 'deliver', '--from', 'a'], 64, 'to'],
    [['cli', 'deliver', '--from', 'a', '--to', 'b', '--sha256', 'abc'], 64, '64 hexadecimal'],
    [
      ['cli', 'deliver', '--from', 'a', '--to', 'b', '--settle', 'soon'],
      64,
      '--settle: found "soon"',
    ],
    [['srv', 'app'], 64, 'run'],
    [['srv', 'app', 'run', '--confg', 'x'], 64, 'did you mean "--config"?'],
    [['srv', 'app', 'run', '--profile', 'all'], 64, '--profile: found "all"; wanted none, cpu'],
    [['up', '--foo'], 64, 'unknown option "--foo"'],
    [['up', '--path'], 64, 'option --path needs a value'],
    [['completion', 'csh'], 64, 'csh'],
  ])('says in one line what makes no sense in wins %j', async (args, code, text) => {
    const outcome = await wins(...args);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(/^wins: [^\n]+\n$/);
    expect(outcome.stderr).toContain(text);
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
