import { foundIn } from '@wins/trusted-files';
import { accessSync, constants, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandError } from '../command-error.js';

/** File for probes. It exists while the proxy is ready, and only then. Without a file name, all methods do nothing. */
export class ReadyFile {
  readonly #file: string | undefined;
  readonly #report: (text: string) => void;

  constructor(file: string | undefined, report: (text: string) => void) {
    this.#file = file;
    this.#report = report;
  }

  /** Removes the file of an earlier run. @throws CommandError when the file cannot be created. */
  prepare(): void {
    if (this.#file === undefined) return;
    try {
      rmSync(this.#file, { force: true });
      accessSync(path.dirname(path.resolve(this.#file)), constants.W_OK);
    } catch (error) {
      throw new CommandError(this.#problem('made', error), undefined, { cause: error });
    }
  }

  write(): void {
    this.#attempt('written', (file) => writeFileSync(file, `${process.pid}\n`));
  }

  remove(): void {
    this.#attempt('removed', (file) => rmSync(file, { force: true }));
  }

  #attempt(what: string, action: (file: string) => void): void {
    if (this.#file === undefined) return;
    try {
      action(this.#file);
    } catch (error) {
      this.#report(this.#problem(what, error));
    }
  }

  #problem(what: string, error: unknown): string {
    return `--ready-file ${this.#file ?? ''} cannot be ${what}: ${foundIn(error)}`;
  }
}
