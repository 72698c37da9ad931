import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

describe('wins cli prc run --replace', () => {
  const workspace = new Workspace();
  const server = workspace.program(
    'server',
    `process.on('SIGTERM', () => { console.log('good bye'); process.exit(0); });
console.log('up'); setInterval(() => {}, 1e6);`,
  );
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([server]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('ends the run of the same program in good order and takes its place; without it the start is refused', async () => {
    const words = ['cli', 'prc', 'run', '--path', server];
    const older = startWins(words, workspace.environment);
    await older.printed('up');
    const refused = await runWins(words, workspace.environment);
    expect([refused.code, refused.stderr]).toEqual([
      125,
      expect.stringContaining('is already running'),
    ]);
    const newer = startWins([...words, '--replace'], workspace.environment);
    await newer.printed('up');
    const { code, stdout, stderr } = await older.outcome;
    expect([code, stdout.toString(), stderr]).toEqual([
      0,
      'up\ngood bye\n',
      'wins: rancher-wins-server was stopped: replaced (a newer run replaced it)\n',
    ]);
    newer.child.kill();
    expect((await newer.outcome).stdout.toString()).toBe('up\ngood bye\n');
  });
});
