import { syncFolder, TrustedFileError } from '@wins/trusted-files';
import { constants, fstatSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { NumberedFiles } from './numbered-files.js';

// Windows has no such flag.
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const PRIVATE = 0o600;
const LINE_END = 0x0a;

/** How a file is written. */
export interface RollingFileOptions {
  /** Whether what was appended survives a loss of power. Flushing takes longer than writing. Default false. */
  readonly isDurable?: boolean;
}

/**
 * The one of numbered files that is written to. Appends whole lines or nothing: after a failure, the part that reached the disk is cut off.
 * It is the only writer of its files, and the caller awaits each call before the next. When to begin the next file is the caller's decision.
 */
export class RollingFile {
  readonly #files: NumberedFiles;
  readonly #isDurable: boolean;
  #handle: FileHandle | undefined;
  #number = 0;
  #sizeBytes = 0;
  #hasHalfLine = false;
  /** A write failed, and what is behind the size may be a part of it. */
  #isTorn = false;

  constructor(files: NumberedFiles, { isDurable = false }: RollingFileOptions = {}) {
    this.#files = files;
    this.#isDurable = isDurable;
  }

  /** Number of the file that was opened last; 0 before. */
  get number(): number {
    return this.#number;
  }

  /** Bytes that the file had when it was opened, and that were appended since. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Whether it ended without a line end when it was opened: a loss of power ends a line anywhere. */
  get hasHalfLine(): boolean {
    return this.#hasHalfLine;
  }

  /**
   * Opens a file in place of the one that is open, and creates it (mode 0600) when it does not exist. Links are refused.
   *
   * @param keepBytes - Cuts off what is beyond: the half line that a crash left. Default: keeps all but what a failed `append` left.
   * @returns The size of the file now.
   * @throws TrustedFileError for a device or pipe; what Node throws.
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

  /**
   * Whether it is open and as this left it. Another program may have written to it, cut it or removed it. It does not wait, because the system
   * knows this of an open file sooner than a thread could be asked.
   */
  isIntact(): boolean {
    if (this.#handle === undefined) return false;
    const { size, nlink } = fstatSync(this.#handle.fd);
    return size === this.#sizeBytes && nlink > 0;
  }

  /**
   * Appends all of these bytes or none. When it fails, the file is closed, and `open` opens it without them.
   *
   * @throws what Node throws, such as `ENOSPC`.
   */
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
      // At once where that can be, because a reader or a crash may come first.
      await handle.truncate(this.#sizeBytes).catch(() => undefined);
      await this.close().catch(() => undefined);
      throw error;
    }
    this.#sizeBytes += bytes.length;
  }

  /** Closes the file; what it knows of it stays. Idempotent. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
