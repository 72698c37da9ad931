import {
  readBytes,
  replaceFile,
  TrustedFileError,
  unlessNotFound,
  type FileTrust,
} from '@wins/trusted-files';
import { rm } from 'node:fs/promises';

/** Where a state file is, and what it holds. */
export interface StateFileOptions<T> {
  /** Absolute path, in a folder that others cannot write to. */
  readonly path: string;
  /** A larger file is damaged. */
  readonly maxBytes: number;
  /** Makes the state of what JSON holds, and checks its version. What it throws for anything else makes the file damaged. */
  readonly parse: (json: unknown) => T;
  /** Answers for a damaged file: throws, or returns what counts instead. `cause` may quote the content. */
  readonly damaged: (cause: unknown) => T | undefined;
  /** Judges who could have written the file. Default: a link is refused, and no more is judged. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'> | undefined;
  /** Replaces the file durably, with the rights that it is to have. Default: `replaceFile`, mode 0600. */
  readonly replace?: (path: string, content: Buffer) => Promise<void>;
}

/** A value that outlives the process, as JSON in a private file. A reader finds the old value or the new one, after a loss of power too. */
export class StateFile<T> {
  readonly #options: StateFileOptions<T>;

  get path(): string {
    return this.#options.path;
  }

  constructor(options: StateFileOptions<T>) {
    this.#options = options;
  }

  /**
   * Reads the value; undefined when there is no file.
   *
   * @throws TrustedFileError `notTrusted`, `notRegularFile`, `accessDenied`, `unknown`; what `damaged` throws.
   */
  async read(): Promise<T | undefined> {
    const { path, maxBytes, trust, parse, damaged } = this.#options;
    let bytes: Buffer | undefined;
    try {
      bytes = await readBytes(path, { maxBytes, trust }).catch(unlessNotFound);
    } catch (error) {
      if (error instanceof TrustedFileError && error.code === 'tooLarge') return damaged(error);
      throw error;
    }
    if (bytes === undefined) return undefined;
    try {
      return parse(JSON.parse(bytes.toString('utf8')));
    } catch (error) {
      return damaged(error);
    }
  }

  /**
   * Replaces the value as one durable act. When it fails, the old one is untouched.
   *
   * @param value - What JSON can hold, and `parse` reads.
   * @throws what `replace` throws: TrustedFileError `notFound` (no folder), `accessDenied`, `noSpace`, `inUse`, `unknown`.
   */
  async write(value: object): Promise<void> {
    const { path, replace = replaceFile } = this.#options;
    await replace(path, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`));
  }

  /** Removes the file. Idempotent. @throws what Node throws. */
  async remove(): Promise<void> {
    await rm(this.#options.path, { force: true });
  }
}
