import { DEFAULT_PIPE_NAME, messageOf, parseDuration } from '@wins/wins-program';
import type { Argv } from 'yargs';
import { CommandError } from '../command-error.js';

/** What a command answers: the exit code. */
export type Handler<T> = (options: T) => Promise<number>;

/** Makes a handler of yargs from one that is loaded when its command runs. */
export type Handle = <T>(load: () => Promise<Handler<T>>) => (options: T) => Promise<void>;

const LONGEST_WAIT_MS = 24 * 3_600_000;

/** An option that is a duration of up to a day, in milliseconds. */
export function durationOption<Default extends string>(
  name: string,
  byDefault: Default,
  describe: string,
) {
  return {
    type: 'string',
    default: byDefault,
    describe,
    coerce: (text: string) => readDuration(name, text, 0),
  } as const;
}

function readDuration(name: string, text: string, minMs: number): number {
  try {
    return parseDuration(text, { minMs, maxMs: LONGEST_WAIT_MS });
  } catch (error) {
    throw new CommandError(`--${name}: ${messageOf(error)}`, undefined, { cause: error });
  }
}

/** `--timeout`, in milliseconds; undefined when it is not given. */
export function withTimeout<T>(parser: Argv<T>, whatFor: string) {
  return parser.option('timeout', {
    type: 'string',
    describe: `How long ${whatFor}: 5s, 2m`,
    coerce: (text: string) => readDuration('timeout', text, 1),
  });
}

/** `--wait-timeout`, in milliseconds. */
export function withWaitTimeout<T>(
  parser: Argv<T>,
  byDefault = '0s',
  whatFor = 'a daemon that does not serve yet',
) {
  const describe = `How long to wait for ${whatFor}: 30s, 5m`;
  return parser.option('wait-timeout', durationOption('wait-timeout', byDefault, describe));
}

/** `--sha256`, a digest. */
export function withSha256<T>(parser: Argv<T>, describe: string) {
  return parser.option('sha256', {
    type: 'string',
    describe,
    coerce: (text: string) => {
      if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
      throw new CommandError(`--sha256: "${text}" is not a digest; wanted 64 hexadecimal digits`);
    },
  });
}

/** `--server`, `--wait-timeout` and `--timeout`. */
export function withDaemonOptions<T>(parser: Argv<T>, waitTimeout?: string) {
  return withTimeout(
    withWaitTimeout(
      parser.option('server', {
        type: 'string',
        default: DEFAULT_PIPE_NAME,
        describe: "Name or path of the daemon's pipe",
      }),
      waitTimeout,
    ),
    'a connection may take (default 10s), and an answer (default 30s)',
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
