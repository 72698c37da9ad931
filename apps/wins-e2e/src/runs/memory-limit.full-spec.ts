import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { runWins, startProgram, type Outcome } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { WINS, Workspace } from '../testing/workspace.js';

const GREEDY = `while [ ! -e "$1" ]; do sleep 0.05; done
head -c 256M /dev/zero | tail -c 200M > /dev/null`;

/** Creates a cgroup v2. Returns undefined if this user may not create one that limits memory. */
function makeCgroup(): string | undefined {
  const [, mountPoint] =
    /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'latin1')) ??
    [];
  try {
    if (mountPoint === undefined) return undefined;
    const folder = mkdtempSync(path.join(mountPoint, 'wins-spec-'));
    if (readFileSync(path.join(folder, 'cgroup.controllers'), 'latin1').includes('memory')) {
      // A cgroup that delegates controllers must not contain processes, so make a subgroup, as systemd's `DelegateSubgroup` does.
      mkdirSync(path.join(folder, 'wins-daemon'));
      return folder;
    }
    rmdirSync(folder);
    return undefined;
  } catch {
    return undefined;
  }
}

describe('a run that reaches its limit of memory', () => {
  const cgroup = makeCgroup();
  if (cgroup === undefined)
    process.stderr.write(
      'SKIPPED: limits by cgroup v2, since none can be made; rlimit is tested\n',
    );
  let workspace: Workspace;
  let daemon: Daemon;
  let config: string;
  let greedy: string;

  beforeEach(async () => {
    workspace = new Workspace();
    greedy = workspace.script('greedy', GREEDY);
    config = workspace.config([{ path: greedy, detached: { allow: true } }]);
    await startDaemon();
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    await until(() => keepers().length === 0);
    workspace[Symbol.dispose]();
  });
  afterAll(() => {
    if (cgroup === undefined) return;
    for (const name of readdirSync(cgroup).filter((each) => each.startsWith('wins-')))
      rmdirSync(path.join(cgroup, name));
    rmdirSync(cgroup);
  });

  const keepers = (): number[] => processesWith('srv\0keep', workspace.folder);
  const prc = (...args: string[]): Promise<Outcome> =>
    runWins(['cli', 'prc', ...args], workspace.environment);
  async function startDaemon(): Promise<void> {
    const command = [process.execPath, WINS, 'srv', 'app', 'run', '--config', config];
    const into = ['-c', 'echo 0 > "$0" && exec "$@"', `${cgroup}/wins-daemon/cgroup.procs`];
    daemon =
      cgroup === undefined
        ? await Daemon.start(workspace, config)
        : Daemon.of(startProgram('/bin/sh', [...into, ...command], workspace.environment));
    await daemon.ready();
  }
  const run = (...more: string[]): Promise<Outcome> => {
    const go = workspace.path('go');
    return prc('run', ...more, '--memory', '64MiB', '--path', greedy, '--', go);
  };
  /** Without a cgroup the limit is an rlimit: the allocation fails, and the program exits by itself. */
  function expectEnd({ code, stderr }: Outcome): void {
    if (cgroup === undefined) expect(code).toBe(1);
    else {
      expect(code).toBe(137);
      expect(stderr).toContain('was stopped: outOfMemory (it reached its memory limit)\n');
    }
  }
  const warning = 'wins: warning: the memory limit applies to each process separately';

  it('ends, and its client gets the reason', async () => {
    workspace.write('go', '');
    const outcome = await run();
    expectEnd(outcome);
    if (cgroup === undefined) {
      expect(outcome.stderr).toContain(warning);
      expect(outcome.stderr).toContain('memory exhausted');
    }
  });

  it('ends while there is no daemon, and the next daemon reports it', async () => {
    const { code, stderr } = await run('--detach', '--name', 'web');
    expect([code, stderr]).toEqual([
      0,
      cgroup === undefined ? expect.stringContaining(warning) : '',
    ]);
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
    workspace.write('go', '');
    await until(() => keepers().length === 0);
    if (cgroup !== undefined) expect(readdirSync(cgroup).join()).not.toContain('wins-run-');
    await startDaemon();
    expectEnd(await prc('wait', 'web'));
    expectEnd(await prc('attach', 'web'));
    const listed = (await prc('ls', '--detached')).stdout.toString();
    if (cgroup !== undefined) expect(listed).toContain('outOfMemory');
    if (cgroup === undefined)
      expect((await prc('logs', 'web')).stderr).toContain('memory exhausted');
  });
});
