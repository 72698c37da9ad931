import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

interface Stats {
  readonly name: string;
  readonly cpuPercent: number | null;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly stdoutBytes: number;
}

const inContainer = wherePossible(
  it,
  mayMakeContainer(),
  'another client: no container can be made',
);

describe('wins cli prc stats', () => {
  const workspace = new Workspace();
  const busy = workspace.script('busy', 'sleep 1000 & echo up; while :; do :; done');
  const idle = workspace.script('idle', 'echo up; exec sleep 1000');
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([busy, idle]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const startRun = async (path: string) => {
    const run = startWins(['cli', 'prc', 'run', '--path', path], workspace.environment);
    await run.printed('up');
    return run;
  };

  it('shows what each run uses, and follows one to its end', async () => {
    const runs = [await startRun(busy), await startRun(idle)];
    const all = await runWins(['cli', 'prc', 'stats'], workspace.environment);
    const [computing, waiting] = JSON.parse(all.stdout.toString()) as Stats[];
    expect([computing?.name, waiting?.name]).toEqual(['rancher-wins-busy', 'rancher-wins-idle']);
    expect(computing?.cpuPercent).toBeGreaterThan(0);
    expect(computing?.cpuMs).toBeGreaterThan(waiting?.cpuMs ?? NaN);
    expect([computing?.processes, waiting?.processes]).toEqual([2, 1]);
    expect(waiting?.memoryBytes).toBeGreaterThan(100_000);
    expect(waiting?.stdoutBytes).toBe(3);

    const words = ['cli', 'prc', 'stats', 'rancher-wins-busy', '-w', '-o', 'table'];
    const watch = startWins(words, workspace.environment);
    await watch.printed('rancher-wins-busy');
    for (const run of runs) {
      run.child.kill();
      await run.outcome;
    }
    const { code, stdout, stderr } = await watch.outcome;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toMatch(
      /^NAME +STATE +CPU % +MEMORY +PROCESSES +STDOUT +STDERR +PAUSES\nrancher-wins-busy +running +\d+\.\d +\S+ MiB +2 +3 B +0 B +0\n/,
    );
  });

  inContainer('shows a client in a container nothing of another', async () => {
    const run = await startRun(idle);
    const words = [WINS, 'cli', 'prc', 'stats'];
    const all = await startInContainer(words, workspace.environment).outcome;
    expect([all.code, all.stdout.toString()]).toEqual([0, '[]\n']);
    const one = await startInContainer([...words, 'rancher-wins-idle'], workspace.environment)
      .outcome;
    expect(one.code).toBe(127);
    expect(one.stderr).toMatch(
      /^wins: cannot measure "rancher-wins-idle": this client has no running program of that name\n$/,
    );
    run.child.kill();
    await run.outcome;
  });
});
