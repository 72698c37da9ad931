import { escapeText } from '@wins/base';
import pretty from 'pino-pretty';
import { Writable } from 'node:stream';

/** Where a person reads the log. */
export interface TerminalLog {
  write(line: string): void;
}

/**
 * A log for people. Text of others may hold characters that steer a terminal or turn its words
 * around; they are shown as escapes.
 *
 * @param env - Without colours when `NO_COLOR` is set and not empty (https://no-color.org).
 */
export function createTerminalLog(
  terminal: NodeJS.WritableStream,
  env: NodeJS.ProcessEnv = process.env,
): TerminalLog {
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      terminal.write(chunk);
      done();
    },
  });
  const stream = pretty({ colorize: !env['NO_COLOR'], sync: true, destination });
  return {
    write: (line) => {
      stream.write(`${JSON.stringify(JSON.parse(line, escapeValue))}\n`);
    },
  };
}

/** A reviver: the line breaks of a stack are ours, all others are escaped. */
function escapeValue(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const lines = key === 'stack' ? value.split('\n') : [value];
  return lines.map((line) => escapeText(line)).join('\n');
}
