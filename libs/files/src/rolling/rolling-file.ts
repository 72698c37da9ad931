import { syncFolder, TrustedFileError } from '@wins/trusted-files';
import { constants, fstatSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { NumberedFiles } from './numbered-files.js';

const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const PRIVATE = 0o600;
const LINE_END = 0x0a;

/** Options of {@link RollingFile}. */
export interface RollingFileOptions {
  /** Flushes each append, so that it survives a power loss. Slower. */
  readonly isDurable?: boolean | undefined;
}

/**
 * The current file of a numbered sequence. It must have no other writer. If an append fails, its partly written line is removed.
 * Await each call before the next.
 */
export class RollingFile implements AsyncDisposable {
  readonly #files: NumberedFiles;
  readonly #isDurable: boolean;
  #handle: FileHandle | undefined;
  #number = 0;
  #sizeBytes = 0;
  #hasHalfLine = false;
  /** True after a failed write: bytes beyond `#sizeBytes` may be a partial line. */
  #isTorn = false;

  constructor(files: NumberedFiles, { isDurable = false }: RollingFileOptions = {}) {
    this.#files = files;
    this.#isDurable = isDurable;
  }

  /** 0 before the first `open`. */
  get number(): number {
    return this.#number;
  }

  /** Size at opening, plus the bytes appended since. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Whether the last line had no line end at opening, as after a power loss. */
  get hasHalfLine(): boolean {
    return this.#hasHalfLine;
  }

  /**
   * Opens or creates (mode 0600) the file that becomes the current one, and returns its size. Truncates the file to `keepBytes`,
   * so that a caller can remove a half line. By default only a half line from a failed `append` is removed.
   *
   * @throws TrustedFileError for a device or pipe; what Node throws, such as `ELOOP` for a link.
   */
  async open(number: number, keepBytes = Infinity): Promise<number> {
    await this.close();
    const file = this.#files.pathOf(number);
    const flags = constants.O_RDWR | constants.O_CREAT | O_NOFOLLOW;
    const handle = await open(file, flags, PRIVATE);
    try {
      const stats = await handle.stat();
      if (!stats.isFile())
        throw new TrustedFileError('notRegularFile', 'write', file, 'it is a device or a pipe');
      const isTorn = this.#isTorn && number === this.#number;
      const mostBytes = Math.min(keepBytes, isTorn ? this.#sizeBytes : Infinity);
      if (stats.size > mostBytes) await handle.truncate(mostBytes);
      const sizeBytes = Math.min(stats.size, mostBytes);
      const end = Buffer.of(LINE_END);
      if (sizeBytes > 0) await handle.read(end, 0, 1, sizeBytes - 1);
      this.#hasHalfLine = end[0] !== LINE_END;
      this.#sizeBytes = sizeBytes;
      this.#number = number;
      this.#isTorn = false;
      if (stats.size === 0 && this.#isDurable) await syncFolder(this.#files.folder);
      this.#handle = handle;
      return this.#sizeBytes;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Whether the file is open and no other program has changed it. Synchronous, because that is faster than the thread pool. */
  isIntact(): boolean {
    if (this.#handle === undefined) return false;
    const { size, nlink } = fstatSync(this.#handle.fd);
    return size === this.#sizeBytes && nlink > 0;
  }

  /** Appends all bytes or none. After a failure, reopen the file. @throws what Node throws, such as `ENOSPC`. */
  async append(bytes: Uint8Array): Promise<void> {
    const handle = this.#handle;
    if (handle === undefined) throw new Error('cannot append to a rolling file: it is not open');
    try {
      for (let from = 0; from < bytes.length;) {
        const [left, at] = [bytes.length - from, this.#sizeBytes + from];
        from += (await handle.write(bytes, from, left, at)).bytesWritten;
      }
      if (this.#isDurable) await handle.datasync();
    } catch (error) {
      this.#isTorn = true;
      // Truncate at once, before a reader sees the partial line or a crash makes it permanent.
      await handle.truncate(this.#sizeBytes).catch(() => undefined);
      await this.close().catch(() => undefined);
      throw error;
    }
    this.#sizeBytes += bytes.length;
  }

  /** Closes the file. `number` and `sizeBytes` keep their last values. Idempotent. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
