import { readBytes, replaceFile, TrustedFileError, unlessNotFound } from '@wins/trusted-files';
import type { FileTrust } from '@wins/trusted-files';
import { rm } from 'node:fs/promises';

export interface StateFileOptions<T> {
  /** Absolute path, in a folder that other users cannot write to. */
  readonly path: string;
  /** Maximum size; a larger file counts as damaged. */
  readonly maxBytes: number;
  /** Converts parsed JSON to the state, and checks its version. Throws for anything else; the file then counts as damaged. */
  readonly parse: (json: unknown) => T;
  /** Handles a damaged file: throws, or returns a substitute value. `cause` may quote the content. */
  readonly damaged: (cause: unknown) => T | undefined;
  /** Judges who could have written the file. Default: refuses a link, and checks nothing else. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'> | undefined;
  /** Replaces the file durably, and sets its permissions. Default: `replaceFile`, mode 0600. */
  readonly replace?: (path: string, content: Buffer) => Promise<void>;
}

/** A value that outlives the process, as JSON in a private file. A reader sees either the old or the new value, even after a power loss. */
export class StateFile<T> {
  readonly #options: StateFileOptions<T>;

  get path(): string {
    return this.#options.path;
  }

  constructor(options: StateFileOptions<T>) {
    this.#options = options;
  }

  /** Reads the value; undefined without a file. @throws TrustedFileError as `readBytes`; what `damaged` throws. */
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

  /** Replaces the value durably and atomically; a failure leaves the old one. `parse` must accept the value. @throws as `replace`. */
  async write(value: object): Promise<void> {
    const { path, replace = replaceFile } = this.#options;
    await replace(path, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`));
  }

  /** Removes the file. Idempotent. @throws what Node throws. */
  async remove(): Promise<void> {
    await rm(this.#options.path, { force: true });
  }
}
