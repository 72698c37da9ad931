import { escapeJson } from '@wins/base';
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Standard error: standard output belongs to what a command answers. */
const STDERR = 2;
/** Limit of the text that waits for a slow reader of the log, in characters; beyond it lines are dropped, and the daemon goes on. */
const LONGEST_BACKLOG = 4 * 1024 * 1024;

/** How much to log. */
export interface LogOptions {
  readonly debug: boolean;
  readonly quiet: boolean;
}

/** How large the files of a service's log may become, in bytes, and how many are kept; undefined for the defaults. */
export interface LogFileOptions {
  readonly 'log-file-size'?: number | undefined;
  readonly 'log-files'?: number | undefined;
}

/** The level of a logger with these options. */
export function logLevel({ debug, quiet }: LogOptions): string {
  if (quiet) return 'silent';
  return debug ? 'debug' : 'info';
}

/**
 * The daemon's log on standard error: JSON lines, or text for people on a terminal. Text of others is quoted where it stands in
 * a message; both forms escape what is invisible.
 */
export async function createLogger(options: LogOptions): Promise<Logger> {
  if (process.stderr.isTTY) {
    const { createTerminalLog } = await import('./terminal-log.js');
    return createLoggerTo(options, createTerminalLog(process.stderr));
  }
  const maxLength = LONGEST_BACKLOG;
  const destination = pino.destination({ dest: STDERR, sync: false, minLength: 0, maxLength });
  return createLoggerTo(options, joinLines(destination));
}

/** Writes the lines of one turn of the event loop together: each write is a job for another thread, which costs more than its line. */
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

/** A log of JSON lines, to wherever. */
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
