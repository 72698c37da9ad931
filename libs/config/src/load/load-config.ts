import { openTrustedFile, posixFileTrust, readWhole } from '@wins/trusted-files';
import type { FileTrust, OpenFile } from '@wins/trusted-files';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { fileError, isMissing, translateFileError } from '../config-error.js';
import { MAX_CONFIG_BYTES, tooLarge } from '../parse/yaml-source.js';
import { createHash } from 'node:crypto';
import { defaultConfigPath } from '../default-config.js';
import { type ParsedConfig, parseConfig, type ParseOptions } from '../parse/parse-config.js';

/** The bytes of a configuration file and its metadata. */
interface ConfigFile {
  readonly bytes: Uint8Array;
  readonly stats: Stats;
}

/** Judges which other users could have written a file, or can change it. */
export type ConfigTrust = Pick<FileTrust, 'distrustOfFile'>;

const EXPECTED = 'a readable regular file';

/**
 * Reads a file if it is trusted; returns undefined when it does not exist. All checks are made on the open file, so the
 * checked file is the one that is read. A symbolic link is followed and checked as well; a dangling link is an error,
 * because a file was intended.
 *
 * @param extraBytes Bytes allowed beyond the size limit of a config, for data that is not part of it.
 * @throws ConfigError `notRegularFile`, `accessDenied`, `insecure`, `tooLarge`, `notFound` (a parent is not a directory),
 * `unknown`.
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
    const found = 'a symbolic link to nothing';
    throw fileError('notRegularFile', path, found, EXPECTED, { cause: error });
  } finally {
    await file?.handle.close();
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    // Opening the file already showed that it is absent.
    return false;
  }
}

/** Options for loading a configuration; problems name the file by its path. */
export interface LoadOptions extends Omit<ParseOptions, 'fileName'> {
  /**
   * Judges who could have written the file, or can change it. The default checks owner and mode, and trusts no file on Windows; use
   * `windowsFileTrust()` of `@wins/windows-host` there.
   */
  readonly trust?: ConfigTrust | undefined;
  /** Whether a missing file is an error, because the user named it and so did not intend the defaults. Default false. */
  readonly mustExist?: boolean;
}

/** A configuration and its file. */
export interface LoadedConfig extends ParsedConfig {
  /** The path that was read. */
  readonly path: string;
  /** False when there is no file, so that all values are defaults and no program may run. */
  readonly found: boolean;
  /** Bytes of the file; absent without one. They may contain secrets. */
  readonly bytes?: Uint8Array;
  /** SHA-256 of the file, in lower-case hex; absent without one. */
  readonly sha256?: string;
}

/**
 * Loads a configuration file, by default {@link defaultConfigPath}; a missing file gives the defaults, unless it must
 * exist. To reload, call it again, and keep the last good value when it throws or when `found` becomes false.
 *
 * @throws ConfigError `invalid` for the content; `notRegularFile` for a directory, a device, a FIFO, or a dangling link;
 * `accessDenied`; `insecure` when other users may write the file, or replace the file or a link to it; `tooLarge` above
 * 1 MiB; `notFound` when a parent is not a directory, or the file must exist; `unknown`.
 */
export async function loadConfig(path?: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const file = path ?? defaultConfigPath(options.platform);
  const read = await readConfigFile(file, options.trust);
  if (read === undefined && options.mustExist === true) {
    const nextStep = 'write it, or name another one with --config';
    throw fileError('notFound', file, 'no such file', 'a config file', { nextStep });
  }
  const parsed = parseConfig(read?.bytes ?? '', { ...options, fileName: file });
  if (read === undefined) return { ...parsed, path: file, found: false };
  const sha256 = createHash('sha256').update(read.bytes).digest('hex');
  return { ...parsed, path: file, found: true, bytes: read.bytes, sha256 };
}
