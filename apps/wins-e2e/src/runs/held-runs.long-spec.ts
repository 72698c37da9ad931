import { existsSync, readdirSync, statSync } from 'node:fs';
import {
  runWins,
  startProgram,
  startWins,
  type Outcome,
  type RunningProgram,
} from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { WINS, Workspace } from '../testing/workspace.js';

/** Prints a line every 10 ms until the file named by its first argument exists. */
const COUNTER = `const { existsSync } = require('node:fs');
let line = 0;
const timer = setInterval(() => {
  console.log('line ' + line++);
  if (line % 50 === 0) console.error('error ' + line);
  if (!existsSync(process.argv[2])) return;
  clearInterval(timer);
  process.exitCode = 7;
}, 10);`;
/** Writes faster than its reader reads, and more than its spool holds. */
const FLOOD = `for (let line = 0; line < 200000; line += 1)
  require('node:fs').writeSync(1, 'line ' + line + ' '.repeat(64) + '\\n');`;

describe('a run that its client holds', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let config: string;
  let counter: string;
  let stop: string;

  beforeEach(async () => {
    workspace = new Workspace();
    counter = workspace.program('counter', COUNTER);
    const flood = workspace.program('flood', FLOOD);
    stop = workspace.path('stop');
    config = workspace.config([
      { path: counter, detached: { allow: true } },
      { path: flood, detached: { allow: true, spoolBytes: 1024 * 1024 } },
    ]);
    daemon = await Daemon.start(workspace, config);
  });
  afterEach(async () => {
    for (const pid of [...keepers(), ...ofRun()]) process.kill(pid, 'SIGKILL');
    await until(() => keepers().length + ofRun().length === 0);
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const ofRun = (): number[] => processesWith(workspace.path('rancher-wins-'));
  const keepers = (): number[] => processesWith('srv\0keep', workspace.folder);
  const prc = (...args: string[]): Promise<Outcome> =>
    runWins(['cli', 'prc', ...args], workspace.environment);
  const run = (...more: string[]): RunningProgram =>
    startWins(['cli', 'prc', 'run', ...more, '--path', counter, '--', stop], workspace.environment);
  const killDaemon = () => daemon.stop('SIGKILL');
  const startDaemon = async (): Promise<void> => {
    daemon = await Daemon.start(workspace, config);
  };
  /** No line may be missing or repeated. Returns the number of lines. */
  function expectCounted(text: string): number {
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toEqual(lines.map((_, index) => `line ${index}`));
    return lines.length;
  }
  async function forgotten(): Promise<void> {
    const folder = workspace.path('run', 'rancher_wins.state', 'runs');
    await until(() => keepers().length === 0 && readdirSync(folder).length === 0);
  }

  it.each([
    ['killed', () => killDaemon()],
    ['stopped', () => daemon[Symbol.asyncDispose]()],
  ])(
    'goes on when the daemon is %s, and its client misses no line and gets none twice',
    async (_how, end) => {
      const client = run();
      await client.printed('line 20\n');
      for (let count = 0; count < 2; count += 1) {
        await end();
        const pids = ofRun();
        await startDaemon();
        expect([pids.length, ofRun()]).toEqual([1, pids]);
        const seen = client.stdout().split('\n').length;
        await client.printed(`line ${seen + 50}\n`);
      }
      const listed = await prc('ls');
      expect(listed.stdout.toString()).toContain('rancher-wins-counter');
      expect((await prc('ls', '--detached', '-o', 'json')).stdout.toString().trim()).toBe('[]');
      workspace.write('stop', '');
      const { code, stdout, stderr } = await client.outcome;
      expect(code).toBe(7);
      expect(expectCounted(stdout.toString())).toBeGreaterThan(100);
      expect(stderr).toMatch(/^(error \d+\n)+$/);
      await forgotten();
    },
  );

  it('that ends while there is no daemon gives its client the rest of its output and its exit code', async () => {
    const client = run();
    await client.printed('line 9\n');
    await killDaemon();
    workspace.write('stop', '');
    await until(() => ofRun().length === 0);
    await startDaemon();
    const { code, stdout } = await client.outcome;
    expect([code, expectCounted(stdout.toString()) > 9]).toEqual([7, true]);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)('ends with its client, by %s', async (signal) => {
    const client = run();
    await client.printed('line 3\n');
    client.child.kill(signal);
    const { code, stderr } = await client.outcome;
    if (signal === 'SIGINT') {
      expect(code).toBe(143);
      expect(stderr).toContain('rancher-wins-counter was stopped: leaseEnded\n');
    }
    await until(() => ofRun().length === 0);
    await forgotten();
  });

  it('that is asked to end while there is no daemon is ended by the next one', async () => {
    const client = run();
    await client.printed('line 3\n');
    await killDaemon();
    client.child.kill('SIGINT');
    await client.said('to end; it will be killed');
    await startDaemon();
    expect((await client.outcome).code).toBe(143);
    await forgotten();
  });

  it('is replaced and stopped like every run, and is hidden from clients without its id', async () => {
    const older = run();
    await older.printed('line 3\n');
    const client = run('--replace');
    const { stderr: said } = await older.outcome;
    expect(said).toContain('replaced (a newer run replaced it)');
    await client.printed('line 3\n');
    await killDaemon();
    await startDaemon();
    const seen = client.stdout().split('\n').length;
    await client.printed(`line ${seen + 5}\n`);
    const [mark = ''] = readdirSync(workspace.path('run', 'rancher_wins.state', 'runs')).filter(
      (name) => /^[0-9a-f]{32}$/.test(name),
    );
    for (const name of [mark, 'rancher-wins-counter'])
      expect((await prc('logs', name)).code).toBe(127);
    expect((await prc('stop', 'rancher-wins-counter')).code).toBe(0);
    const { code, stderr } = await client.outcome;
    expect(code).toBe(143);
    expect(stderr).toContain('wins: rancher-wins-counter was stopped: stopped\n');
  });

  it('ends with the daemon, with a warning before, where a keeper cannot hold it', async () => {
    const client = run('--exposes', 'TCP:8080');
    await client.said(
      'wins: warning: it ends with the daemon: its ports cannot be exposed, because they close with the daemon\n',
    );
    await client.printed('line 3\n');
    expect(keepers()).toEqual([]);
    await daemon[Symbol.asyncDispose]();
    const { code, stderr } = await client.outcome;
    expect([code, stderr]).toEqual([143, expect.stringContaining('daemonStopping')]);
  });

  it('waits for a reader that is slow, and loses nothing beyond the bound of its spool', async () => {
    const begun = workspace.path('begun');
    const flood = `'${process.execPath}' '${WINS}' cli prc run --path '${workspace.path('flood')}'`;
    const reader = startProgram(
      '/bin/sh',
      ['-c', `${flood} | tee '${begun}' | (until [ -e '${stop}' ]; do sleep 0.05; done; cat)`],
      workspace.environment,
    );
    // The daemon answers Start before it sends output. So once the client has printed output, it knows which run it holds.
    await until(() => existsSync(begun) && statSync(begun).size > 0);
    await killDaemon();
    await startDaemon();
    expect(ofRun()).toHaveLength(1);
    workspace.write('stop', '');
    const { stdout, stderr } = await reader.outcome;
    expect(stderr).toBe('');
    expect(expectCounted(stdout.toString().replaceAll(/ +\n/g, '\n'))).toBe(200_000);
  });
});
