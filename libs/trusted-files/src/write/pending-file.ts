import { randomUUID } from 'node:crypto';
import fs, { constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder, type HeldPatience, whenNotHeld } from './when-not-held.js';

// Windows has no such flag; the exclusive creation is enough there.
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const PRIVATE = 0o600;

// File descriptors, because with handles of `node:fs/promises` a small file takes 1.5 times as long.
const open = promisify(fs.open);
const write = promisify(fs.write);
const fchown = promisify(fs.fchown);
const fchmod = promisify(fs.fchmod);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);
const rename = promisify(fs.rename);
const unlink = promisify(fs.unlink);

/** Owner and mode of a new file on POSIX. On Windows it inherits the access list of its folder. */
export interface FileRights {
  /** File mode, applied regardless of the process's umask. */
  readonly mode: number;
  /** Owner and group, which only root can set. Default: this user and its group. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Rights of a new file, and its durability. */
export interface PendingOptions extends FileRights {
  /** Flushes the content, so that it survives a loss of power; flushing takes most of the time. Default true. */
  readonly isFlushed?: boolean | undefined;
  /**
   * Creates the empty file exclusively, with its rights, on systems where permission bits do not control access; the
   * folder must not be writable by others. An exception aborts the write; only file-system errors are translated.
   * Default: creates the file with permission bits.
   */
  readonly create?: ((path: string) => void) | undefined;
}

/** Writes all given bytes at a position of a new file. @throws TrustedFileError `noSpace`, `unknown`. */
export type WriteAt = (bytes: Uint8Array, position: number) => Promise<void>;

/** Options for giving a file its final name. */
export interface PlaceOptions extends HeldPatience {
  /** Called before each attempt; an exception aborts it and is rethrown unchanged. */
  readonly beforeRename?: (() => void | Promise<void>) | undefined;
  /** True when the new name must survive a loss of power. Default true. */
  readonly isDurable?: boolean | undefined;
}

/** A written and closed file under a temporary name beside its final one. The caller places or discards it. */
export interface PendingFile {
  readonly temporary: string;
  /**
   * Renames the file to its final name, atomically replacing an existing file: a process that opens the name, even
   * after a loss of power, finds the complete old file or the new one. Replaces a symbolic link of that name without
   * following it. On failure, discards the file.
   *
   * @throws TrustedFileError `accessDenied`, `inUse`, `notFound`, `notRegularFile` (a folder has the name), `unknown`.
   */
  place(options?: PlaceOptions): Promise<void>;
  /** Removes the file; does nothing after `place`. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** Returns the default temporary path: hidden, in the same folder, and impossible to guess. */
export function temporaryPath(target: string): string {
  // `randomUUID` uses a cache: `randomBytes` takes four times as long. The fixed digits of a UUID are dropped.
  const uuid = randomUUID();
  const random = uuid.slice(0, 8) + uuid.slice(-8);
  return path.join(path.dirname(target), `.${path.basename(target)}.${random}.tmp`);
}

/**
 * Writes a file beside its final path, so that readers of the final name never see a partial file. Creates the
 * temporary name, by default {@link temporaryPath}, exclusively, so a planted file or link is refused. Only this user can
 * open the file until its rights are set. `fill` writes the content; its exceptions pass unchanged, except
 * file-system errors, which are translated.
 *
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`; nothing is left.
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
      await whenNotHeld(attempt, options);
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
        // Set the owner first, because chown clears bits of the mode.
        if (owner !== undefined) await fchown(file, owner.uid, owner.gid);
        if (owner !== undefined || modeOf(file) !== mode) await fchmod(file, mode);
      }
      if (isFlushed) await fsync(file);
    } finally {
      // Linux refuses to run a file that is still open for writing. Without a flush, a synchronous close does not wait for the disk.
      if (isFlushed) await close(file);
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

/** Returns the actual mode, which umask and folder may have changed. Reading it from an open file does not wait for the disk. */
function modeOf(file: number): number {
  return fs.fstatSync(file).mode & 0o7777;
}
