import { appendFileSync, rmSync, statSync } from 'node:fs';

const LIMIT_BYTES = 1024 * 1024;

/**
 * Log of upgrades for later reading: JSON lines in a file, which is started anew when it has grown
 * beyond 1 MiB. What cannot be written is lost: an upgrade does not fail because its log does.
 */
export class UpgradeLog {
  #file: string | undefined;
  #early = '';

  readonly #echo: (line: string) => void;

  /** @param echo - Gets each line as well. */
  constructor(echo: (line: string) => void = () => undefined) {
    this.#echo = echo;
  }

  /** Keeps the log in this file, with what was written before the file was known. */
  keepIn(file: string): void {
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LIMIT_BYTES) rmSync(file);
    } catch {
      // It is then written as it is.
    }
    this.#file = file;
    this.#append(this.#early);
    this.#early = '';
  }

  /** Writes a line. Text of others belongs into fields, which are escaped. */
  write(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const time = new Date().toISOString();
    const line = `${JSON.stringify({ time, pid: process.pid, msg: message, ...fields })}\n`;
    this.#echo(line);
    if (this.#file === undefined) this.#early += line;
    else this.#append(line);
  }

  #append(text: string): void {
    if (this.#file === undefined || text === '') return;
    try {
      appendFileSync(this.#file, text, { mode: 0o600 });
    } catch {
      // See above.
    }
  }
}
