import {
  readBytes,
  replaceFile,
  TrustedFileError,
  unlessNotFound,
  type FileTrust,
} from '@wins/trusted-files';
import { rm } from 'node:fs/promises';

/** Path and format of a {@link StateFile}, and its behaviour for a damaged file. */
export interface StateFileOptions<T> {
  /** Absolute path in a folder that other users cannot write. */
  readonly path: string;
  /** A larger file counts as damaged. */
  readonly maxBytes: number;
  /** Checks parsed JSON and its version. When it throws, the file counts as damaged. */
  readonly parse: (json: unknown) => T;
  /** Throws, or returns a substitute for a damaged file. `cause` may quote the content. */
  readonly damaged: (cause: unknown) => T | undefined;
  /** Checks that only trusted users could have written the file. Default: only refuses a link. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'> | undefined;
  /** Replaces the file durably and sets its permissions. Default: `replaceFile`, mode 0600. */
  readonly replace?: ((path: string, content: Buffer) => Promise<void>) | undefined;
}

/** A value in a private JSON file. A reader finds the old or the new value, even after a power loss. */
export class StateFile<T> {
  readonly #options: StateFileOptions<T>;

  get path(): string {
    return this.#options.path;
  }

  constructor(options: StateFileOptions<T>) {
    this.#options = options;
  }

  /** Returns undefined if there is no file. @throws TrustedFileError as `readBytes` does, or the error of `damaged`. */
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

  /** Replaces the value durably and atomically; after a failure the old one remains. `parse` must accept the value. @throws as `replace`. */
  async write(value: object): Promise<void> {
    const { path, replace = replaceFile } = this.#options;
    await replace(path, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`));
  }

  /** Idempotent. @throws what Node throws. */
  async remove(): Promise<void> {
    await rm(this.#options.path, { force: true });
  }
}
