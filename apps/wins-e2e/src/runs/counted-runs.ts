import { existsSync, readdirSync, rmSync } from 'node:fs';
import { processesWith, until } from '../testing/process-table.js';
import { runWins, startWins, type Outcome, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

/** Prints a line every 10 ms until the file named by its first argument exists. */
export const COUNTER = `const { existsSync } = require('node:fs');
let line = 0;
const timer = setInterval(() => {
  console.log('line ' + line++);
  if (line % 20 === 0) console.error('error ' + line);
  if (!existsSync(process.argv[2])) return;
  clearInterval(timer);
  process.exitCode = 7;
}, 10);`;

/** A daemon whose whitelist contains a counter that may run detached. */
export class CountedRuns implements AsyncDisposable {
  readonly workspace = new Workspace();
  readonly counter = this.workspace.program('counter', COUNTER);
  /** The counters end when this file exists. */
  readonly stop = this.workspace.path('stop');
  readonly config = this.workspace.config([
    { path: this.counter, envs: ['COUNTER_TOKEN'], detached: { allow: true, restart: true } },
  ]);
  #daemon: Daemon | undefined;

  static async start(): Promise<CountedRuns> {
    const runs = new CountedRuns();
    await runs.startDaemon();
    return runs;
  }

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  readonly startDaemon = async (): Promise<void> => {
    this.#daemon = await Daemon.start(this.workspace, this.config);
  };

  async killDaemon(): Promise<void> {
    await this.daemon.stop('SIGKILL');
  }

  async stopDaemon(): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
  }

  ofRun(): number[] {
    return processesWith(this.workspace.path('rancher-wins-counter'));
  }

  keepers(): number[] {
    return processesWith('srv\0keep', this.workspace.folder);
  }

  /** Names of what the daemon and its keepers keep of runs. */
  kept(): string[] {
    const state = this.workspace.path('run', 'rancher_wins.state', 'runs');
    return existsSync(state) ? readdirSync(state) : [];
  }

  /** Lets all counters end. */
  finish(): void {
    this.workspace.write('stop', '');
  }

  /** Kills all counters and their keepers. */
  async endAll(): Promise<void> {
    await until(() => {
      const left = [...this.keepers(), ...this.ofRun()];
      for (const pid of left) endIfAlive(pid);
      return left.length === 0;
    });
    rmSync(this.stop, { force: true });
  }

  prc(...args: string[]): Promise<Outcome> {
    return runWins(['cli', 'prc', ...args], this.workspace.environment);
  }

  follow(...args: string[]): RunningProgram {
    return startWins(['cli', 'prc', ...args], this.workspace.environment);
  }

  async detach(...more: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.prc(
      'run',
      '--detach',
      ...more,
      '--path',
      this.counter,
      '--',
      this.stop,
    );
    expect([code, stderr]).toEqual([0, '']);
    return stdout.toString().trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll();
    await this.stopDaemon();
    this.workspace[Symbol.dispose]();
  }
}

function endIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended since the list was made.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** No line may be missing or repeated. Returns the number of lines. */
export function expectCounted(text: string): number {
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toEqual(lines.map((_, index) => `line ${index}`));
  return lines.length;
}
