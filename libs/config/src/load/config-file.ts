import { errnoOf } from '@wins/wins-program';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { fileError } from '../config-error.js';
import { MAX_CONFIG_BYTES, tooLarge } from '../parse/decode-text.js';
import { distrustReason } from './file-trust.js';
import { translateNodeError } from '../node-errors.js';

/** The bytes of a configuration file and what the system knows about it. */
export interface ConfigFile {
  readonly bytes: Uint8Array;
  readonly stats: Stats;
}

/** Says who else may change a file, or undefined when that is all right. */
export type Distrust = (path: string) => Promise<string | undefined>;

const EXPECTED = 'a readable regular file';

// Opening a FIFO or a terminal must neither wait nor take it over. Windows has neither flag.
const { O_NONBLOCK = 0, O_NOCTTY = 0 } = constants as Partial<typeof constants>;

/**
 * Reads a file that may be trusted; undefined when there is none.
 *
 * All checks are made on the open file, so what is checked is what is read. A symbolic link is followed; one that leads
 * nowhere is an error, not a missing file: something was meant to be there.
 * @throws ConfigError `notRegularFile`, `accessDenied`, `insecure`, `tooLarge`, `notFound`
 *   (a parent is no directory), `unknown`.
 */
export async function readConfigFile(
  path: string,
  distrust: Distrust = () => Promise.resolve(undefined),
): Promise<ConfigFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw translateNodeError(error, path, EXPECTED);
    if (!(await isLink(path))) return undefined;
    throw fileError('notRegularFile', path, 'a symbolic link to nothing', EXPECTED, {
      cause: error,
    });
  }
  try {
    const stats = await handle.stat();
    refuseUnusable(path, stats);
    refuseDistrusted(path, await distrust(path));
    return { bytes: await readBounded(handle, path), stats };
  } catch (error) {
    throw translateNodeError(error, path, EXPECTED);
  } finally {
    await handle.close();
  }
}

function refuseUnusable(path: string, stats: Stats): void {
  if (!stats.isFile()) {
    const found = stats.isDirectory() ? 'a directory' : 'a device, pipe or socket';
    throw fileError('notRegularFile', path, found, EXPECTED);
  }
  const uid = process.geteuid?.();
  const gid = process.getegid?.();
  if (uid !== undefined && gid !== undefined)
    refuseDistrusted(path, distrustReason(stats, { uid, gid }));
  if (stats.size > MAX_CONFIG_BYTES) throw tooLarge(path, `${stats.size} bytes`);
}

function refuseDistrusted(path: string, found: string | undefined): void {
  const expected = 'a file that only administrators or the user of this process may write';
  if (found !== undefined) throw fileError('insecure', path, found, expected);
}

/** The file may grow while it is read, or have no honest size; the limit holds nevertheless. */
async function readBounded(handle: FileHandle, path: string): Promise<Uint8Array> {
  const buffer = Buffer.alloc(MAX_CONFIG_BYTES + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > MAX_CONFIG_BYTES) throw tooLarge(path, 'more');
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    // What cannot be looked at was reported as absent by opening it.
    return false;
  }
}
