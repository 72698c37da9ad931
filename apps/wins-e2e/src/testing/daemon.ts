import type { ChildProcess } from 'node:child_process';
import { startWins, type Outcome, type RunningProgram } from './built-program.js';
import type { Workspace } from './workspace.js';

export type LogRecord = Readonly<Record<string, unknown>> & { readonly msg: string };

export class Daemon implements AsyncDisposable {
  readonly #program: RunningProgram;

  private constructor(program: RunningProgram) {
    this.#program = program;
  }

  static async start(workspace: Workspace, config: string, ...args: string[]): Promise<Daemon> {
    const daemon = Daemon.launch(workspace, config, ...args);
    await daemon.ready();
    return daemon;
  }

  static launch(workspace: Workspace, config: string, ...args: string[]): Daemon {
    return new Daemon(
      startWins(['srv', 'app', 'run', '--config', config, ...args], workspace.environment),
    );
  }

  static of(program: RunningProgram): Daemon {
    return new Daemon(program);
  }

  async ready(): Promise<void> {
    await this.logged((record) => record.msg === 'ready');
  }

  get child(): ChildProcess {
    return this.#program.child;
  }

  get outcome(): Promise<Outcome> {
    return this.#program.outcome;
  }

  get text(): string {
    return this.#program.stderr();
  }

  get log(): LogRecord[] {
    return this.#program
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogRecord);
  }

  /** Waits for a log record after the first `skip` ones. */
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

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.child.kill(signal);
    return this.outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.stop();
  }
}
