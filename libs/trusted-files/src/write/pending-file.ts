import { randomUUID } from 'node:crypto';
import fs, { constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder, whenNotHeld } from './when-not-held.js';

// Windows lacks this flag; exclusive creation is enough there.
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const PRIVATE = 0o600;

// With handles of `node:fs/promises` a small file takes 1.5 times as long as with file descriptors.
const open = promisify(fs.open);
const write = promisify(fs.write);
const fchown = promisify(fs.fchown);
const fchmod = promisify(fs.fchmod);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);
const rename = promisify(fs.rename);
const unlink = promisify(fs.unlink);
const SMALL_BYTES = 64 * 1024;

/** Owner and mode on POSIX. On Windows the file inherits the access list of its folder. */
export interface FileRights {
  /** Applied regardless of the umask. */
  readonly mode: number;
  /** Only root can set it. Default: this user and its group. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Options of {@link writePendingFile}. */
export interface PendingOptions extends FileRights {
  /** Flushes the content, so that it survives a power loss. Takes most of the time. Default true. */
  readonly isFlushed?: boolean | undefined;
  /**
   * Creates the empty file with its access rights, on systems where permission bits do not control access. Must fail if the
   * file exists. Other users must not be able to write to the folder. An exception aborts the write. Default: the file gets
   * permission bits.
   */
  readonly create?: ((path: string) => void) | undefined;
}

/** Writes all bytes. @throws TrustedFileError `noSpace`, `unknown`. */
export type WriteAt = (bytes: Uint8Array, position: number) => Promise<void>;

/** Options of {@link PendingFile.place}. */
export interface PlaceOptions {
  /** Longest time in milliseconds to retry while another program holds the file open. Default 0: the first failure is final. */
  readonly heldFileMs?: number | undefined;
  /** Called before each attempt. An exception ends the attempts and reaches the caller. */
  readonly beforeRename?: (() => void | Promise<void>) | undefined;
  /** Whether the new name must survive a power loss. Default true. */
  readonly isDurable?: boolean | undefined;
}

/** A written file with a temporary name. The caller places or discards it. */
export interface PendingFile {
  readonly temporary: string;
  /**
   * Renames the file to its final name. A process that opens this name, even after a power loss if the content was flushed, finds the old file
   * or the complete new one. Replaces a symbolic link instead of following it. On failure, discards the file.
   *
   * @throws TrustedFileError `accessDenied`, `inUse`, `notFound`, `notRegularFile` (a folder has the name), `unknown`.
   */
  place(options?: PlaceOptions): Promise<void>;
  /** Does nothing after `place`. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** Returns a hidden path in the folder of `target`. Its name is impossible to guess. */
export function temporaryPath(target: string): string {
  // `randomUUID` is four times as fast as `randomBytes`, because it uses a cache. The fixed digits of the UUID are left out.
  const uuid = randomUUID();
  const random = uuid.slice(0, 8) + uuid.slice(-8);
  return path.join(path.dirname(target), `.${path.basename(target)}.${random}.tmp`);
}

/**
 * Writes a temporary file beside `target`, so that readers never see a partial file. Refuses a planted file or link with the
 * temporary name. Only this user can open the file until its rights are set. Exceptions of `fill` pass unchanged, except
 * file-system errors, which are translated.
 *
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`. No file is left then.
 */
export async function writePendingFile(
  target: string,
  { mode, owner, isFlushed = true, create }: PendingOptions,
  fill: (write: WriteAt) => Promise<void>,
  temporary: string = temporaryPath(target),
): Promise<PendingFile> {
  const taken = create === undefined ? constants.O_CREAT | constants.O_EXCL : 0;
  const flags = constants.O_RDWR | taken | O_NOFOLLOW;
  let isOurs = false;
  const discard = async (): Promise<void> => {
    if (!isOurs) return;
    isOurs = false;
    await unlink(temporary).catch(() => undefined);
  };
  const place = async (options: PlaceOptions = {}): Promise<void> => {
    const attempt = async (): Promise<void> => {
      await options.beforeRename?.();
      await rename(temporary, target);
    };
    try {
      await whenNotHeld(attempt, options.heldFileMs ?? 0);
      isOurs = false;
      if (options.isDurable !== false) await syncFolder(path.dirname(target));
    } catch (error) {
      await discard();
      throw fileSystemError(error, 'write', target);
    }
  };
  try {
    create?.(temporary);
    isOurs = create !== undefined;
    const file = await open(temporary, flags, PRIVATE);
    isOurs = true;
    try {
      await fill((bytes, position) => writeAll(file, target, bytes, position));
      if (process.platform !== 'win32') {
        // chown clears bits of the mode, so it comes first.
        if (owner !== undefined) await fchown(file, owner.uid, owner.gid);
        if (owner !== undefined || modeOf(file) !== mode) await fchmod(file, mode);
      }
      if (isFlushed) await fsync(file);
    } finally {
      // Close, because Linux refuses to run a file that is open for writing. A synchronous close is faster, and a small file that is not flushed keeps
      // nobody waiting. A large one may: a scanner for viruses reads it, or a network file system flushes it.
      if (isFlushed || fs.fstatSync(file).size > SMALL_BYTES) await close(file);
      else fs.closeSync(file);
    }
    return { temporary, place, discard };
  } catch (error) {
    await discard();
    throw fileSystemError(error, 'write', target);
  }
}

async function writeAll(file: number, target: string, bytes: Uint8Array, position: number) {
  try {
    for (let from = 0; from < bytes.length;) {
      const left = bytes.length - from;
      from += (await write(file, bytes, from, left, position + from)).bytesWritten;
    }
  } catch (error) {
    throw fileSystemError(error, 'write', target);
  }
}

/** The umask and the folder may have changed the mode. Synchronous, because fstat does not wait for the disk. */
function modeOf(file: number): number {
  return fs.fstatSync(file).mode & 0o7777;
}
