import { escapeJson } from '@wins/base';
import { appendFileSync, rmSync, statSync } from 'node:fs';

const LIMIT_BYTES = 1024 * 1024;

/** Writes JSON lines. Ignores write failures, so that upgrades go on. */
export class UpgradeLog {
  #file: string | undefined;
  #early = '';

  readonly #echo: (line: string) => void;

  constructor(echo: (line: string) => void = () => undefined) {
    this.#echo = echo;
  }

  /** Writes the lines logged so far and all later ones to this file. Deletes its old content if that exceeds 1 MiB. */
  keepIn(file: string): void {
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LIMIT_BYTES) rmSync(file);
    } catch {
      // Keep the old content.
    }
    this.#file = file;
    this.#append(this.#early);
    this.#early = '';
  }

  /** Untrusted text belongs in fields, which are escaped. */
  write(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const time = new Date().toISOString();
    const facts = { time, pid: process.pid, msg: message, ...fields };
    const line = `${escapeJson(JSON.stringify(facts))}\n`;
    this.#echo(line);
    if (this.#file === undefined) this.#early += line;
    else this.#append(line);
  }

  #append(text: string): void {
    if (this.#file === undefined || text === '') return;
    try {
      appendFileSync(this.#file, text, { mode: 0o600 });
    } catch {
      // A lost line is acceptable.
    }
  }
}
