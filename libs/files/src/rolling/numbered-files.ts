import { openRegularFile, unlessNotFound } from '@wins/trusted-files';
import { readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fileLines, type FileLine, type LineOptions } from './file-lines.js';

/** The files are named `PREFIX.NUMBER.SUFFIX`. */
export interface NumberedFilesOptions {
  readonly folder: string;
  readonly prefix: string;
  readonly suffix: string;
  /** Minimum digits of a number, with leading zeros: 1 to 15. */
  readonly digits: number;
}

/** A numbered sequence of files in one folder. Reads and removes them; a {@link RollingFile} writes them. */
export class NumberedFiles {
  readonly folder: string;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #digits: number;

  constructor({ folder, prefix, suffix, digits }: NumberedFilesOptions) {
    this.folder = folder;
    this.#prefix = `${prefix}.`;
    this.#suffix = `.${suffix}`;
    this.#digits = digits;
  }

  nameOf(number: number): string {
    return `${this.#prefix}${String(number).padStart(this.#digits, '0')}${this.#suffix}`;
  }

  pathOf(number: number): string {
    return path.join(this.folder, this.nameOf(number));
  }

  /** Returns the existing numbers in order. @throws what Node throws for an unreadable folder. */
  async numbers(): Promise<readonly number[]> {
    const names = await readdir(this.folder);
    return names
      .map((name) => this.#numberOf(name))
      .filter((number) => number !== undefined)
      .sort((a, b) => a - b);
  }

  /** Reads a file, even while it grows. Yields some lines at a time, at most about 64 KiB beyond one line. @throws TrustedFileError as `openRegularFile`, and what Node throws. */
  async *lines(number: number, options: LineOptions): AsyncGenerator<readonly FileLine[]> {
    const opened = openRegularFile(this.pathOf(number));
    const file = await (options.mustExist === true ? opened : opened.catch(unlessNotFound));
    if (file !== undefined) yield* fileLines(file, options);
  }

  /** Removes files. Never rejects: a file that cannot be removed stays, such as one that another program has open on Windows. */
  async remove(numbers: readonly number[]): Promise<void> {
    await Promise.allSettled(numbers.map((number) => unlink(this.pathOf(number))));
  }

  /** Returns the number in a file name. Undefined for a name that `nameOf` never gives, such as `wins.7.log` when `digits` is 6. */
  #numberOf(name: string): number | undefined {
    const digits = name.slice(this.#prefix.length, -this.#suffix.length);
    if (!/^\d{1,15}$/.test(digits)) return undefined;
    return this.nameOf(Number(digits)) === name ? Number(digits) : undefined;
  }
}
