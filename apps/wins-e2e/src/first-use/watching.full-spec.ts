import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Daemon } from '../testing/daemon.js';
import { runWins, startWins, type RunningProgram } from '../testing/built-program.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const hasTerminal = spawnSync('script', ['--version']).status === 0;
const onTerminal = wherePossible(it, hasTerminal, 'what a terminal shows: there is no script');

describe('wins cli prc ls --watch', () => {
  const workspace = new Workspace();
  const stay = workspace.script('stay', 'echo up; exec sleep 1000');
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([stay]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const startRun = async (): Promise<RunningProgram> => {
    const run = startWins(['cli', 'prc', 'run', '--path', stay], workspace.environment);
    await run.printed('up');
    return run;
  };
  const endRun = async (run: RunningProgram): Promise<void> => {
    run.child.kill();
    await run.outcome;
  };

  it('prints a line of JSON for each change, and ends with 0 by Ctrl-C', async () => {
    const watch = startWins(['cli', 'prc', 'ls', '--watch'], workspace.environment);
    await watch.printed('[]\n');
    const run = await startRun();
    await watch.printed('rancher-wins-stay');
    await endRun(run);
    await watch.printed('}]\n[]\n');
    watch.child.kill('SIGINT');
    const { code, stdout, stderr } = await watch.outcome;
    expect([code, stderr]).toEqual([0, '']);
    const lists = stdout.toString().trim().split('\n');
    expect(lists.map((line) => JSON.parse(line) as unknown)).toEqual([
      [],
      [expect.objectContaining({ name: 'rancher-wins-stay', state: 'running' })],
      [],
    ]);
  });

  it('prints a document of YAML for each change when YAML is asked for, and ends with 0 by SIGTERM', async () => {
    const watch = startWins(['cli', 'prc', 'ls', '-w', '-oyaml'], workspace.environment);
    await watch.printed('---\n[]\n');
    const run = await startRun();
    await watch.printed('---\n- name: "rancher-wins-stay"\n');
    await endRun(run);
    watch.child.kill('SIGTERM');
    expect((await watch.outcome).code).toBe(0);
  });

  onTerminal('draws the table over itself on a terminal, and ends with 0 by Ctrl-C', async () => {
    const command = `stty rows 24; exec ${process.execPath} ${WINS} cli prc ls -w`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: workspace.environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.on(
      'data',
      (chunk: Buffer) => (shown += chunk.toString().replaceAll('\u001b', '<ESC>')),
    );
    const shows = async (text: RegExp): Promise<void> => {
      while (!text.test(shown)) await once(child.stdout, 'data');
    };
    const ended = once(child, 'close');
    await shows(
      /^<ESC>\[\?7l<ESC>\[HNAME +PID +STATE +STARTED +EXPOSES +LIMITS +PATH<ESC>\[K\r\n<ESC>\[J<ESC>\[\?7h$/,
    );
    const run = await startRun();
    await shows(
      /7h<ESC>\[\?7l<ESC>\[HNAME .*\r\nrancher-wins-stay .*<ESC>\[K\r\n<ESC>\[J<ESC>\[\?7h$/,
    );
    child.stdin.write('\u0003');
    expect(await ended).toEqual([0, null]);
    await endRun(run);
  });

  it('ends with an error and the next step when the daemon goes away', async () => {
    using own = new Workspace();
    const short = await Daemon.start(own, own.config([]));
    const watch = startWins(['cli', 'prc', 'ls', '-w'], own.environment);
    await watch.printed('[]\n');
    await short.stop();
    const { code, stdout, stderr } = await watch.outcome;
    expect([code, stdout.toString()]).toEqual([125, '[]\n']);
    expect(stderr).toMatch(/^wins: [^\n]*run "wins doctor" on the host to see why\)?\n$/);
  });

  it('is a word that other commands do not know', async () => {
    const { code, stderr } = await runWins(['cli', 'route', 'ls', '-w'], workspace.environment);
    expect([code, stderr]).toEqual([64, expect.stringContaining('unknown option "-w"')]);
  });
});
