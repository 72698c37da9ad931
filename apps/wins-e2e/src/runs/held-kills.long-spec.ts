import fc from 'fast-check';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { startWins, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

/** Prints a line every 10 ms until the file named by its first argument exists. */
const COUNTER = `const { existsSync } = require('node:fs');
let line = 0;
const timer = setInterval(() => {
  console.log('line ' + line++);
  if (!existsSync(process.argv[2])) return;
  clearInterval(timer);
  process.exitCode = 7;
}, 10);`;
const STEPS = [
  'kill the daemon',
  'stop the daemon',
  'start a daemon',
  'start a daemon',
  'kill the client',
  'kill the keeper',
  'kill the program',
  'let it count',
] as const;
type Step = (typeof STEPS)[number];

/** `killed`: the program was killed; `lost`: its keeper was killed; `left`: its client has gone. The first cause counts. */
type Fate = 'lives' | 'killed' | 'lost' | 'left';

/** Exit code and standard error of the client. */
const ENDS: Readonly<Record<Exclude<Fate, 'left'>, readonly [code: number, said: string]>> = {
  lives: [7, ''],
  killed: [137, ''],
  lost: [137, 'wins: rancher-wins-counter was stopped: hostFailed\n'],
};

/** A run that ends with its client. Client, daemon, keeper and program may die at any moment. */
class MortalRun implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #config: string;
  readonly #client: RunningProgram;
  #daemon: Daemon | undefined;
  #isClientAlive = true;
  #fate: Fate = 'lives';

  private constructor(
    workspace: Workspace,
    config: string,
    daemon: Daemon,
    client: RunningProgram,
  ) {
    this.#workspace = workspace;
    this.#config = config;
    this.#daemon = daemon;
    this.#client = client;
  }

  static async start(): Promise<MortalRun> {
    const workspace = new Workspace();
    const counter = workspace.program('counter', COUNTER);
    const config = workspace.config([{ path: counter, detached: { allow: true } }]);
    const daemon = await Daemon.start(workspace, config);
    const run = ['cli', 'prc', 'run', '--path', counter, '--', workspace.path('stop')];
    const client = startWins(run, workspace.environment);
    await client.printed('line 3\n');
    return new MortalRun(workspace, config, daemon, client);
  }

  async take(step: Step): Promise<void> {
    switch (step) {
      case 'kill the daemon':
      case 'stop the daemon':
        await this.#daemon?.stop(step === 'kill the daemon' ? 'SIGKILL' : 'SIGTERM');
        this.#daemon = undefined;
        return;
      case 'start a daemon':
        this.#daemon ??= await Daemon.start(this.#workspace, this.#config);
        return;
      case 'kill the client':
        this.#client.child.kill('SIGKILL');
        await this.#client.outcome;
        this.#isClientAlive = false;
        this.#become('left');
        return;
      case 'kill the keeper':
        for (const pid of this.#keepers()) process.kill(pid, 'SIGKILL');
        this.#become('lost');
        await this.#isKnown();
        return;
      case 'kill the program':
        for (const pid of this.#programs()) process.kill(pid, 'SIGKILL');
        this.#become('killed');
        await this.#isKnown();
        return;
      case 'let it count':
        if (this.#fate !== 'lives' || this.#daemon === undefined) return;
        await this.#client.printed(`line ${this.#client.stdout().split('\n').length + 5}\n`);
    }
  }

  async check(): Promise<void> {
    await this.take('start a daemon');
    if (this.#fate === 'lives') {
      await this.take('let it count');
      expect(this.#programs()).toHaveLength(1);
      this.#workspace.write('stop', '');
    }
    const { code, stdout, stderr } = await this.#client.outcome;
    const lines = stdout.toString().split('\n').slice(0, -1);
    expect(lines).toEqual(lines.map((_, index) => `line ${index}`));
    if (this.#isClientAlive && this.#fate !== 'left')
      expect([code, stderr]).toEqual(ENDS[this.#fate]);
    // All processes end, at the latest when the keeper stops waiting for a client.
    await until(() => this.#programs().length + this.#keepers().length === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of [...this.#keepers(), ...this.#programs()]) process.kill(pid, 'SIGKILL');
    this.#client.child.kill('SIGKILL');
    await this.#client.outcome;
    await this.#daemon?.stop();
    this.#workspace[Symbol.dispose]();
  }

  #become(fate: Fate): void {
    if (this.#fate === 'lives') this.#fate = fate;
  }

  /**
   * Waits until the end of the run is known. Normally the client then exits. If the daemon or the client is gone, the end of a killed
   * run is recorded instead.
   */
  async #isKnown(): Promise<void> {
    if (this.#fate === 'left') return;
    if (this.#daemon !== undefined && this.#isClientAlive) await this.#client.outcome;
    else if (this.#fate === 'killed') await until(() => this.#hasEnd());
  }

  #hasEnd(): boolean {
    const folder = this.#workspace.path('run', 'rancher_wins.state', 'runs');
    const runs = readdirSync(folder).filter((name) => /^[0-9a-f]{32}$/.test(name));
    return runs.every((mark) => existsSync(path.join(folder, mark, 'end.json')));
  }

  readonly #keepers = (): number[] => processesWith('srv\0keep', this.#workspace.folder);
  readonly #programs = (): number[] => processesWith(this.#workspace.path('rancher-wins-counter'));
}

describe('a run that its client holds', () => {
  it('has its expected fate, whatever dies in which order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...STEPS), { minLength: 2, maxLength: 7 }),
        async (steps) => {
          await using run = await MortalRun.start();
          for (const step of steps) await run.take(step);
          await run.check();
        },
      ),
      { numRuns: 8, endOnFailure: true, seed: Number(process.env['WINS_TEST_SEED'] ?? 0) },
    );
  });
});
