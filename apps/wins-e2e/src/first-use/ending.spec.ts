import { startProgram, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { WINS, Workspace } from '../testing/workspace.js';

describe('the end of a run', () => {
  const workspace = new Workspace();
  const stubborn = workspace.program(
    'stubborn',
    `process.on('SIGTERM', () => console.log('not I')); console.log('here'); setInterval(() => {}, 1e6);`,
  );
  const yes = workspace.script('yes', 'exec yes');
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([stubborn, yes]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('by a first Ctrl-C is announced, with the time after which it is forced; a second forces it at once', async () => {
    const client = startWins(['cli', 'prc', 'run', '--path', stubborn], workspace.environment);
    await client.printed('here');
    client.child.kill('SIGINT');
    await client.said('asking rancher-wins-stubborn to end; it will be killed after 10 s');
    await client.printed('not I');
    client.child.kill('SIGINT');
    const { code, stderr } = await client.outcome;
    expect(code).toBe(137);
    expect(stderr).toContain('wins: killing rancher-wins-stubborn\n');
    expect(stderr).toContain('wins: rancher-wins-stubborn was stopped: leaseEnded\n');
  });

  it('by a second Ctrl-C comes even when the daemon is frozen', async () => {
    const client = startWins(['cli', 'prc', 'run', '--path', stubborn], workspace.environment);
    await client.printed('here');
    daemon.child.kill('SIGSTOP');
    client.child.kill('SIGINT');
    await client.said('to end; it will be killed');
    client.child.kill('SIGINT');
    expect((await client.outcome).code).toBe(130);
    daemon.child.kill('SIGCONT');
    await until(() => processesWith(workspace.path('rancher-wins-stubborn')).length === 0);
  });

  it('because its output cannot be written says why, and ends with 125', async () => {
    const command = `exec "${process.execPath}" "${WINS}" cli prc run --path "${yes}" >/dev/full`;
    const { code, stderr } = await startProgram('/bin/sh', ['-c', command], workspace.environment)
      .outcome;
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: 'wins: cannot write to standard output: the disk is full\n',
    });
    expect(processesWith(workspace.path('rancher-wins-yes'))).toEqual([]);
  });

  it.each(['--version', 'completion bash', 'cli prc ls', 'srv config schema', 'status'])(
    'of a command whose answer cannot be written is 125, with the reason: %s',
    async (words) => {
      const command = `exec "${process.execPath}" "${WINS}" ${words} >/dev/full`;
      const { code, stderr } = await startProgram('/bin/sh', ['-c', command], workspace.environment)
        .outcome;
      expect([code, stderr]).toEqual([
        125,
        'wins: cannot write to standard output: the disk is full\n',
      ]);
    },
  );
});
