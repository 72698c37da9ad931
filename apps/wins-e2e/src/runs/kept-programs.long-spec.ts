import { runWins, type Outcome } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

const STAYS = `console.log(process.argv.slice(2).join(' '), process.env.GREETING);
setInterval(() => undefined, 1000);`;
const FAILS = 'process.exitCode = 3;';

describe('a program that the config keeps', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let config: string;
  beforeEach(async () => {
    workspace = new Workspace();
    const one = workspace.program('one', STAYS);
    const two = workspace.program('two', STAYS);
    const fails = workspace.program('fails', FAILS);
    config = keeping([
      { path: one, args: ['a b'], envs: { GREETING: 'hello' } },
      { path: two, name: 'second' },
      { path: fails, restart: 'on-failure:1' },
      { path: workspace.program('changed', STAYS), sha256: 'a'.repeat(64) },
    ]);
    daemon = await Daemon.start(workspace, config);
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    for (const pid of [...keepers(), ...of('one'), ...of('two')]) process.kill(pid, 'SIGKILL');
    await until(() => keepers().length === 0);
    workspace[Symbol.dispose]();
  });

  const keeping = (keep: readonly object[]): string => workspace.config([], { keep });
  const keepers = (): number[] => processesWith('srv\0keep', workspace.folder);
  const of = (name: string): number[] => processesWith(workspace.path(`rancher-wins-${name}`));
  const wins = (...args: string[]): Promise<Outcome> => runWins(args, workspace.environment);
  async function list(): Promise<readonly Record<string, unknown>[]> {
    const { stdout } = await wins('cli', 'prc', 'ls', '--detached', '-o', 'json');
    return JSON.parse(stdout.toString()) as Record<string, unknown>[];
  }
  const inConfig = (...args: string[]): Promise<Outcome> => wins(...args, '--config', config);

  it('runs without a client, is given up as its policy says, keeps its process over reloads and daemons, and ends with its entry', async () => {
    await until(() => of('one').length === 1 && of('two').length === 1);
    const [first, second] = [of('one'), of('two')];
    const logs = await wins('cli', 'prc', 'logs', 'keep:one');
    expect(logs.stdout.toString()).toBe('a b hello\n');
    const waited = await wins('cli', 'prc', 'wait', 'keep:fails');
    expect(waited.code).toBe(3);
    expect(await list()).toContainEqual(
      expect.objectContaining({
        name: 'keep:fails',
        state: 'gaveUp',
        restarts: 1,
        gaveUp: 'it was started again once',
      }),
    );
    const never = await wins('cli', 'prc', 'wait', 'keep:changed');
    expect(never.code).toBe(126);
    expect(never.stderr).toContain('it was never started: ');
    const examined = await inConfig('doctor', '-o', 'json');
    expect(examined.stdout.toString()).toContain('keep:fails will not be started again');

    const [one, two] = ['one', 'two'].map((name) => workspace.path(name));
    config = keeping([
      { path: one, args: ['a b'], envs: { GREETING: 'hello' } },
      { path: two, name: 'second', args: ['other'] },
    ]);
    expect((await wins('srv', 'config', 'reload')).code).toBe(0);
    await until(() => of('two').length === 1 && of('two')[0] !== second[0]);
    expect(of('one')).toEqual(first);
    // The daemon lists the run only after it has recorded what the next daemon needs.
    while (!(await list()).some(({ name, pid }) => name === 'keep:second' && pid === of('two')[0]));

    daemon.child.kill('SIGKILL');
    await daemon.outcome;
    const changed = of('two');
    config = keeping([{ path: two, name: 'second', args: ['other'] }]);
    daemon = await Daemon.start(workspace, config);
    await until(() => of('one').length === 0);
    expect(of('two')).toEqual(changed);
    process.kill(changed[0] ?? 0, 'SIGKILL');
    await until(() => of('two').length === 1 && of('two')[0] !== changed[0]);

    const last = of('two');
    config = keeping([]);
    const dropped = await wins('srv', 'config', 'reload');
    expect([dropped.code, dropped.stderr]).toEqual([
      78,
      expect.stringContaining('without which the programs that the daemon keeps end'),
    ]);
    expect(of('two')).toEqual(last);
    expect((await wins('srv', 'config', 'reload', '--allow-drop', 'keep')).code).toBe(0);
    await until(() => of('two').length === 0);
  });

  it('has a name of its own, as the check of the config says', async () => {
    config = keeping([{ path: '/opt/one' }, { path: '/usr/one' }, { path: '/opt/x', name: 'one' }]);
    const { code, stdout } = await inConfig('srv', 'config', 'check', '-o', 'json');
    expect(code).not.toBe(0);
    expect(stdout.toString()).toContain('it has the name of entry 0');
    const explained = await wins('srv', 'config', 'explain', 'keep[].restart');
    expect(explained.stdout.toString()).toContain('always');
  });
});
