import { randomUUID } from 'node:crypto';
import fs, { constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder, type HeldPatience, whenNotHeld } from './when-not-held.js';

// Windows has no such flag; the name is taken exclusively there as well.
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const PRIVATE = 0o600;

// By descriptor: with a handle of `node:fs/promises`, a small file takes half as long again.
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
  /** Whatever the creation mask of the process says. */
  readonly mode: number;
  /** Only root can give a file away. Default: this user and its group. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Owner and mode of a new file, and whether its content must survive a loss of power. */
export interface PendingOptions extends FileRights {
  /**
   * Default true. A file that is not flushed may be empty after a loss of power: for what is made again then. Flushing takes as long as
   * all else together, or longer.
   */
  readonly isFlushed?: boolean | undefined;
  /**
   * Makes the file, empty, with its rights, and exclusively, where permission bits do not say who may use it: in a folder that others cannot
   * change. What it throws ends it, unchanged but for errors of the file system. Default: it is made with permission bits.
   */
  readonly create?: ((path: string) => void) | undefined;
}

/** Writes all of some bytes at a position of a new file. @throws TrustedFileError `noSpace`, `unknown`. */
export type WriteAt = (bytes: Uint8Array, position: number) => Promise<void>;

/** How a file gets its final name. */
export interface PlaceOptions extends HeldPatience {
  /** Called before each attempt; what it throws ends it, unchanged. */
  readonly beforeRename?: (() => void | Promise<void>) | undefined;
  /** Whether the new name is to survive a loss of power. Default true. */
  readonly isDurable?: boolean | undefined;
}

/** A file that is written, flushed and closed, and has a temporary name beside its final one. The caller places or discards it. */
export interface PendingFile {
  readonly temporary: string;
  /**
   * Gives it the final name, over whatever has that, as one act: a process that opens the name, after a loss of power too, finds
   * the old file whole or the new one. A symbolic link of that name is replaced, not followed. When it fails, the file is discarded.
   *
   * @throws TrustedFileError `accessDenied`, `inUse`, `notFound`, `notRegularFile` (a folder has the name), `unknown`.
   */
  place(options?: PlaceOptions): Promise<void>;
  /** Removes it; nothing once it was placed. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** The default temporary name: hidden, in the same folder, and not to be guessed. */
export function temporaryPath(target: string): string {
  // From a supply: `randomBytes` takes four times as long. What is left out says that it is a UUID.
  const uuid = randomUUID();
  const random = uuid.slice(0, 8) + uuid.slice(-8);
  return path.join(path.dirname(target), `.${path.basename(target)}.${random}.tmp`);
}

/**
 * Writes a file beside its final place, so that the final name never shows a part of it. The temporary name is taken exclusively: a
 * file or link that someone planted there is refused. Only this user can open the file until it has its rights.
 *
 * @param fill - Writes the content; what it throws ends it, unchanged but for errors of the file system.
 * @param temporary - A path in the same folder. Default: {@link temporaryPath}.
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`; nothing is left then.
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
        // The owner first: giving a file away clears bits of its mode.
        if (owner !== undefined) await fchown(file, owner.uid, owner.gid);
        if (owner !== undefined || modeOf(file) !== mode) await fchmod(file, mode);
      }
      if (isFlushed) await fsync(file);
    } finally {
      // Linux refuses to run a file that is still open for writing. What is not flushed has nothing to wait for.
      if (isFlushed) await close(file);
      else fs.closeSync(file);
    }
    return { temporary, place, discard };
  } catch (error) {
    await discard();
    throw fileSystemError(error, 'write', target);
  }
}

async function writeAll(
  file: number,
  target: string,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  try {
    for (let from = 0; from < bytes.length;) {
      const left = bytes.length - from;
      from += (await write(file, bytes, from, left, position + from)).bytesWritten;
    }
  } catch (error) {
    throw fileSystemError(error, 'write', target);
  }
}

/** Returns the mode that the creation mask and the folder left. Reading it from an open file does not wait for the disk. */
function modeOf(file: number): number {
  return fs.fstatSync(file).mode & 0o7777;
}
