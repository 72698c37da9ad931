import { errnoOf, escapeJson } from '@wins/base';
import { write as writeTo, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Standard output is for the result of a command. */
const STDERR = 2;
/** Characters queued for a slow reader of the log; further lines are dropped, so that the daemon continues. */
const LONGEST_BACKLOG = 4 * 1024 * 1024;
const AGAIN_MS = 100;
const write = promisify(writeTo);

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
  return createLoggerTo(options, standardError());
}

/**
 * Joins the lines of an event-loop turn, because each write costs a job on another thread. Drops lines that the system refuses, as on
 * a full disk. The destination of pino would end the process then, and keep it from its end.
 */
function standardError(): DestinationStream {
  let lines = '';
  let isWriting = false;
  const writeLines = async (): Promise<void> => {
    while (lines !== '') {
      const bytes = Buffer.from(lines);
      lines = '';
      await writeWhole(bytes).catch(() => undefined);
    }
    isWriting = false;
  };
  process.once('exit', () => {
    try {
      writeSync(STDERR, lines);
    } catch {
      // The last lines are dropped, too.
    }
  });
  return {
    write: (line) => {
      if (lines.length + line.length > LONGEST_BACKLOG) return;
      lines += line;
      if (isWriting) return;
      isWriting = true;
      setImmediate(() => void writeLines());
    },
  };
}

async function writeWhole(bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    try {
      from += (await write(STDERR, bytes, from)).bytesWritten;
    } catch (error) {
      // A pipe whose reader is slow is full for a while, if another process has made it non-blocking.
      if (errnoOf(error) !== 'EAGAIN') throw error;
      await delay(AGAIN_MS);
    }
  }
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
