import { escapeText } from '@wins/base';
import pretty from 'pino-pretty';
import { Writable } from 'node:stream';

export interface TerminalLog {
  write(line: string): void;
}

/** Escapes terminal control characters in untrusted text. `NO_COLOR` disables colours (https://no-color.org). */
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

/** Escapes all line breaks except those of a stack. */
function escapeValue(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const lines = key === 'stack' ? value.split('\n') : [value];
  return lines.map((line) => escapeText(line)).join('\n');
}
