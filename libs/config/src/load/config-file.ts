import {
  openTrustedFile,
  posixFileTrust,
  readWhole,
  type FileTrust,
  type OpenFile,
} from '@wins/trusted-files';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { fileError } from '../config-error.js';
import { isMissing, translateFileError } from '../file-errors.js';
import { MAX_CONFIG_BYTES, tooLarge } from '../parse/decode-config.js';

/** The bytes of a configuration file and what the system knows about it. */
export interface ConfigFile {
  readonly bytes: Uint8Array;
  readonly stats: Stats;
}

/** Judges who else could have put a file where it is, or can change it. */
export type ConfigTrust = Pick<FileTrust, 'distrustOfFile'>;

const EXPECTED = 'a readable regular file';
const ANY_PLACE: ConfigTrust = { distrustOfFile: () => undefined };

/** Owner and mode of every step of the path; on Windows nothing is known without the trust of `@wins/windows-host`. */
export function configTrust(): ConfigTrust {
  return process.platform === 'win32' ? ANY_PLACE : posixFileTrust();
}

/**
 * Reads a file that may be trusted; undefined when there is none.
 *
 * All checks are made on the open file, so what is checked is what is read. A symbolic link is followed, and judged itself; one
 * that leads nowhere is an error, not a missing file: something was meant to be there.
 * @param extraBytes - Bytes beyond the limit of a config, for what is not part of one.
 * @throws ConfigError `notRegularFile`, `accessDenied`, `insecure`, `tooLarge`, `notFound`
 *   (a parent is no directory), `unknown`.
 */
export async function readConfigFile(
  path: string,
  trust: ConfigTrust = configTrust(),
  extraBytes = 0,
): Promise<ConfigFile | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await openTrustedFile(path, trust, { followLinks: true });
    const { stats } = file;
    const maxBytes = MAX_CONFIG_BYTES + extraBytes;
    if (stats.size > maxBytes) throw tooLarge(path, `${stats.size} bytes`);
    return { bytes: await readWhole(file, { maxBytes }), stats };
  } catch (error) {
    if (!isMissing(error)) throw translateFileError(error, path, EXPECTED);
    if (!(await isLink(path))) return undefined;
    throw fileError('notRegularFile', path, 'a symbolic link to nothing', EXPECTED, {
      cause: error,
    });
  } finally {
    await file?.handle.close();
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
