import { escapeJson } from '@wins/base';
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Standard output is for the result of a command. */
const STDERR = 2;
/** Characters queued for a slow reader of the log; further lines are dropped, so that the daemon continues. */
const LONGEST_BACKLOG = 4 * 1024 * 1024;

export interface LogOptions {
  readonly debug: boolean;
  readonly quiet: boolean;
}

/** Limits for the log files of a service: the size of each file in bytes, and the number of files. An undefined limit has its default value. */
export interface LogFileOptions {
  readonly 'log-file-size'?: number | undefined;
  readonly 'log-files'?: number | undefined;
}

export function logLevel({ debug, quiet }: LogOptions): string {
  if (quiet) return 'silent';
  return debug ? 'debug' : 'info';
}

/** Writes JSON lines, or text on a terminal. Both quote untrusted text and escape invisible characters. */
export async function createLogger(options: LogOptions): Promise<Logger> {
  if (process.stderr.isTTY) {
    const { createTerminalLog } = await import('./terminal-log.js');
    return createLoggerTo(options, createTerminalLog(process.stderr));
  }
  const maxLength = LONGEST_BACKLOG;
  const destination = pino.destination({ dest: STDERR, sync: false, minLength: 0, maxLength });
  return createLoggerTo(options, joinLines(destination));
}

/** Joins the lines of an event-loop turn, because each write costs a job on another thread. */
function joinLines(destination: ReturnType<typeof pino.destination>): DestinationStream {
  let lines = '';
  const flush = (): void => {
    destination.write(lines);
    lines = '';
  };
  process.once('exit', () => {
    if (lines === '') return;
    flush();
    destination.flushSync();
  });
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

export function createLoggerTo(options: LogOptions, destination: DestinationStream): Logger {
  const settings = {
    level: logLevel(options),
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: (line: string) => escapeJson(line) },
  };
  return pino(settings, destination);
}

export const SET_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export interface LevelNow {
  readonly level: string;
  /** End of a temporary level. */
  readonly until?: Date;
}

/** Sets the level of a logger: the level that an administrator set for a time, else the usual level from config and options. */
export class LogLevel implements Disposable {
  readonly #logger: Pick<Logger, 'level'>;
  #usual: string;
  #set: { readonly now: LevelNow; readonly timer: NodeJS.Timeout } | undefined;

  constructor(logger: Pick<Logger, 'level'>) {
    this.#logger = logger;
    this.#usual = logger.level;
  }

  get now(): LevelNow {
    return this.#set?.now ?? { level: this.#usual };
  }

  become(usual: string): void {
    this.#usual = usual;
    this.#apply();
  }

  set(level: (typeof SET_LEVELS)[number], forMs: number): void {
    clearTimeout(this.#set?.timer);
    const timer = setTimeout(() => this.reset(), forMs).unref();
    this.#set = { now: { level, until: new Date(Date.now() + forMs) }, timer };
    this.#apply();
  }

  reset(): void {
    clearTimeout(this.#set?.timer);
    this.#set = undefined;
    this.#apply();
  }

  [Symbol.dispose](): void {
    this.reset();
  }

  #apply(): void {
    this.#logger.level = this.now.level;
  }
}
