import type { ChildProcess } from 'node:child_process';
import { startWins, type Outcome, type RunningProgram } from './built-program.js';
import type { Workspace } from './workspace.js';

/** A line of the daemon's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly msg: string };

/** The built daemon, running. */
export class Daemon implements AsyncDisposable {
  readonly #program: RunningProgram;

  private constructor(program: RunningProgram) {
    this.#program = program;
  }

  /** Starts the daemon and waits until it serves. */
  static async start(workspace: Workspace, config: string, ...args: string[]): Promise<Daemon> {
    const daemon = Daemon.launch(workspace, config, ...args);
    await daemon.ready();
    return daemon;
  }

  /** Starts the daemon without waiting for anything. */
  static launch(workspace: Workspace, config: string, ...args: string[]): Daemon {
    return new Daemon(
      startWins(['srv', 'app', 'run', '--config', config, ...args], workspace.environment),
    );
  }

  /** The daemon that another program has become or will become. */
  static of(program: RunningProgram): Daemon {
    return new Daemon(program);
  }

  /** Waits until the daemon serves. */
  async ready(): Promise<void> {
    await this.logged((record) => record.msg === 'ready');
  }

  get child(): ChildProcess {
    return this.#program.child;
  }

  get outcome(): Promise<Outcome> {
    return this.#program.outcome;
  }

  /** Its standard error so far. */
  get text(): string {
    return this.#program.stderr();
  }

  /** The log so far. */
  get log(): LogRecord[] {
    return this.#program
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogRecord);
  }

  /** Waits for a record of the log, from the start of the daemon or after the first `skip` records. */
  readonly logged = async (
    wanted: (record: LogRecord) => boolean,
    skip = 0,
  ): Promise<LogRecord> => {
    for (;;) {
      const found = this.log.slice(skip).find(wanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        this.child.stderr?.once('data', () => resolve());
        void this.outcome.then((outcome) => {
          if (this.log.slice(skip).some(wanted)) resolve();
          else reject(new Error(`the daemon ended (${outcome.code}): ${outcome.stderr}`));
        });
      });
    }
  };

  /** Asks the daemon to end and waits for it. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.child.kill(signal);
    return this.outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.stop();
  }
}
