import { escapeJson, escapeText } from '@wins/base';

export type LogFormat = 'pretty' | 'json';

export interface ClientLogOptions {
  readonly debug?: boolean;
  readonly quiet?: boolean;
  /** Default: `pretty`. */
  readonly 'log-format'?: LogFormat | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;
type Level = 'debug' | 'info' | 'warn' | 'fatal';

/** Log of the client on standard error, with untrusted text escaped. In the `pretty` format, only debug lines show time and fields. */
export class ClientLog {
  /** Check it before building expensive fields for `debug`. */
  readonly isDebug: boolean;
  readonly #options: ClientLogOptions;
  readonly #write: (line: string) => void;

  /** @param write - Writes a line, including its line end. Default: standard error. */
  constructor(
    options: ClientLogOptions = {},
    write: (line: string) => void = (line) => void process.stderr.write(line),
  ) {
    this.isDebug = options.debug === true && options.quiet !== true;
    this.#options = options;
    this.#write = write;
  }

  debug(message: string, fields?: Fields): void {
    if (this.isDebug) this.#log('debug', message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.#log('warn', message, fields);
  }

  fatal(message: string, fields?: Fields): void {
    this.#log('fatal', message, fields);
  }

  #log(level: Level, message: string, fields: Fields = {}): void {
    if (this.#options.quiet === true) return;
    const time = new Date().toISOString();
    if (this.#options['log-format'] === 'json') {
      this.#write(`${escapeJson(JSON.stringify({ level, time, ...fields, msg: message }))}\n`);
      return;
    }
    const text = level === 'debug' ? [time, message, ...facts(fields)].join(' ') : message;
    this.#write(`wins: ${escapeText(text)}\n`);
  }
}

function facts(fields: Fields): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
}
