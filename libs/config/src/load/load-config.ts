import {
  openTrustedFile,
  posixFileTrust,
  readWhole,
  type FileTrust,
  type OpenFile,
} from '@wins/trusted-files';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { fileError, isMissing, translateFileError } from '../config-error.js';
import { MAX_CONFIG_BYTES, tooLarge } from '../parse/yaml-source.js';
import { createHash } from 'node:crypto';
import { defaultConfigPath } from '../default-config.js';
import { type ParsedConfig, parseConfig, type ParseOptions } from '../parse/parse-config.js';

/** The bytes of a configuration file and what the system knows about it. */
interface ConfigFile {
  readonly bytes: Uint8Array;
  readonly stats: Stats;
}

/** Judges who else could have put a file where it is, or can change it. */
export type ConfigTrust = Pick<FileTrust, 'distrustOfFile'>;

const EXPECTED = 'a readable regular file';

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
  trust: ConfigTrust = posixFileTrust(),
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

/** How to load a configuration; the file name is the path. */
export interface LoadOptions extends Omit<ParseOptions, 'fileName'> {
  /**
   * Judges who could have put the file there, or can change it. Default: owner and mode, which trusts nothing on Windows: `windowsFileTrust()`
   * of `@wins/windows-host` does.
   */
  readonly trust?: ConfigTrust | undefined;
  /** Whether a missing file is an error: someone named it, so that the defaults are not what was meant. Default false. */
  readonly mustExist?: boolean;
}

/** A configuration and the file that it is from. */
export interface LoadedConfig extends ParsedConfig {
  /** The path that was read. */
  readonly path: string;
  /** False when there is no file, so that everything is default and nothing may run. */
  readonly found: boolean;
  /** The file as it was read; absent without one. It may hold secrets. */
  readonly bytes?: Uint8Array;
  /** SHA-256 of the file, in lower-case hex; absent without one. */
  readonly sha256?: string;
}

/**
 * Loads a configuration file; a missing one gives the defaults, unless it must exist.
 *
 * It has no state and changes nothing: to reload, call it again and keep the last good value when it throws or when `found` turns false.
 * @param path Default {@link defaultConfigPath}.
 * @throws ConfigError `invalid` for the content; `notRegularFile` for a directory, a device, a FIFO, or a link to nothing. `accessDenied`;
 *   `insecure` where others may write the file, or replace it or a link to it. `tooLarge` above 1 MiB; `notFound` where a parent is no
 *   directory, or the file must exist; `unknown`.
 */
export async function loadConfig(path?: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const file = path ?? defaultConfigPath(options.platform);
  const read = await readConfigFile(file, options.trust);
  if (read === undefined && options.mustExist === true) {
    throw fileError('notFound', file, 'no such file', 'a config file', {
      nextStep: 'write it, or name another one with --config',
    });
  }
  const parsed = parseConfig(read?.bytes ?? '', { ...options, fileName: file });
  if (read === undefined) return { ...parsed, path: file, found: false };
  const sha256 = createHash('sha256').update(read.bytes).digest('hex');
  return { ...parsed, path: file, found: true, bytes: read.bytes, sha256 };
}
