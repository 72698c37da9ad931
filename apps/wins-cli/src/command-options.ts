import { DEFAULT_PIPE_NAME } from '@wins/wins-api';
import type { Argv } from 'yargs';
import { CommandError } from './command-error.js';
import { parseDurationMs } from './duration.js';

/** What a command answers: the exit code. */
export type Handler<T> = (options: T) => Promise<number>;

/** Makes a handler of yargs from one that is loaded when its command runs. */
export type Handle = <T>(load: () => Promise<Handler<T>>) => (options: T) => Promise<void>;

/** `--wait-timeout`, in milliseconds. */
export function withWaitTimeout<T>(parser: Argv<T>, byDefault = '0s') {
  return parser.option('wait-timeout', {
    type: 'string',
    default: byDefault,
    describe: 'How long to wait for a daemon that is not there yet: 30s, 5m',
    coerce: (text: string) => {
      const durationMs = parseDurationMs(text);
      if (durationMs === undefined) {
        throw new CommandError(
          `--wait-timeout: "${text}" is not a duration; wanted for example 30s, 5m or 500ms`,
        );
      }
      return durationMs;
    },
  });
}

/** `--server` and `--wait-timeout`. */
export function withDaemonOptions<T>(parser: Argv<T>, waitTimeout?: string) {
  return withWaitTimeout(
    parser.option('server', {
      type: 'string',
      default: DEFAULT_PIPE_NAME,
      describe: "Name or path of the daemon's pipe",
    }),
    waitTimeout,
  );
}

/** `--output json|table`. */
export function withOutputOption<T>(parser: Argv<T>) {
  return parser.option('output', {
    alias: 'o',
    choices: ['json', 'table'] as const,
    default: 'json' as const,
    describe: 'json for programs, table for people',
  });
}
