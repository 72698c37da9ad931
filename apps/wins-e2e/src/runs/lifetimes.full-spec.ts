import { runWins, startWins, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

/** Starts two children, one in its own session, and prints that they are up. */
const FAMILY = `const { spawn } = require('node:child_process');
const wait = ['-e', 'setInterval(() => {}, 1e6)', process.argv[1] + '-grandchild'];
spawn(process.execPath, wait, { stdio: 'inherit' });
spawn(process.execPath, wait, { stdio: 'ignore', detached: true }).unref();
console.log('family is up');
if (process.argv[2] === 'orphan') process.exit(5);
setInterval(() => {}, 1e6);`;

type Reached = (client: RunningProgram, daemon: Daemon) => Promise<unknown>;

describe('what the daemon started', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let family: string;
  let config: string;

  beforeEach(async () => {
    workspace = new Workspace();
    family = workspace.program('family', FAMILY);
    config = workspace.config([family]);
    daemon = await Daemon.start(workspace, config);
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const everyone = (): number[] => processesWith(workspace.path('rancher-wins-family'));
  async function startFamily(...args: string[]): Promise<RunningProgram> {
    const client = startWins(
      ['cli', 'prc', 'run', '--path', family, '--', ...args],
      workspace.environment,
    );
    await client.printed('family is up');
    return client;
  }

  it('is gone, grandchildren and all, after its client was killed', async () => {
    const client = await startFamily();
    expect(everyone()).toHaveLength(3);
    client.child.kill('SIGKILL');
    await until(() => everyone().length === 0);
    const { exit } = await daemon.logged((record) => record['type'] === 'ended');
    expect(exit).toMatchObject({
      reason: expect.stringMatching(/leaseEnded|ownerDisconnected/) as string,
    });
  });

  it('ends with the exit code of the program when that leaves children behind, and they end too', async () => {
    const client = await startFamily('orphan');
    expect((await client.outcome).code).toBe(5);
    expect(everyone()).toEqual([]);
  });

  it('reports the signal that killed the program, and its children end too', async () => {
    const client = await startFamily();
    const [leader] = processesWith(workspace.path('rancher-wins-family') + '\0');
    process.kill(leader ?? 0, 'SIGKILL');
    expect((await client.outcome).code).toBe(137);
    expect(everyone()).toEqual([]);
  });

  it('goes on when one of its children is killed', async () => {
    const client = await startFamily();
    const [grandchild] = processesWith(workspace.path('rancher-wins-family-grandchild'));
    process.kill(grandchild ?? 0, 'SIGKILL');
    await until(() => everyone().length === 2);
    expect(client.child.exitCode).toBeNull();
    client.child.kill('SIGTERM');
    await client.outcome;
    expect(everyone()).toEqual([]);
  });

  it.each<[string, Reached]>([
    ['once it has decided', (_client, { logged }) => logged(({ action }) => action === 'start')],
    ['at its first output', (client) => client.printed('family is up')],
    ['before it was asked', () => Promise.resolve()],
    [
      'once the program is started',
      (_client, { logged }) => logged(({ type }) => type === 'started'),
    ],
    [
      'once the client holds it',
      (_client, { logged }) => logged(({ action }) => action === 'keepAlive'),
    ],
  ])('is gone after a daemon that was killed %s is back, and runs once', async (_step, reached) => {
    const client = startWins(['cli', 'prc', 'run', '--path', family], workspace.environment);
    await reached(client, daemon);
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
    const { code, stderr } = await client.outcome;
    expect(code).toBe(125);
    expect(stderr).toMatch(/^wins: [^\n]*rancher_wins[^\n]*\n$/);

    daemon = await Daemon.start(workspace, config);
    expect(everyone()).toEqual([]);

    const again = await startFamily();
    expect(everyone()).toHaveLength(3);
    again.child.kill('SIGTERM');
    await again.outcome;
    expect(everyone()).toEqual([]);
  });

  it('is stopped by a daemon that is asked to end, and the client learns how it ended', async () => {
    const client = await startFamily();
    const { code } = await daemon.stop('SIGTERM');
    expect(code).toBe(0);
    const outcome = await client.outcome;
    expect(outcome.code).toBe(143);
    expect(outcome.stderr).toContain('daemonStopping');
    expect(everyone()).toEqual([]);
  });

  it('does not outlive the call that started it when the client dies before it holds the lease', async () => {
    const kills = Array.from({ length: 12 }, async (_, step) => {
      const client = startWins(['cli', 'prc', 'run', '--path', family], workspace.environment);
      const seen = daemon.log.length;
      if (step % 3 !== 0) {
        await Promise.race([
          daemon.logged(
            (record) => record['action'] === (step % 3 === 1 ? 'start' : 'keepAlive'),
            seen,
          ),
          client.outcome,
        ]);
      }
      client.child.kill('SIGKILL');
      await client.outcome;
    });
    await Promise.all(kills);
    await until(() => everyone().length === 0);
    const { stdout } = await runWins(['cli', 'prc', 'ls'], workspace.environment);
    expect(stdout.toString()).toBe('[]\n');
  });
});
