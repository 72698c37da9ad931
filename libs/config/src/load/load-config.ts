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

interface ConfigFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** Checks whether an untrusted user could have written a file, or can change it. */
export type ConfigTrust = Pick<FileTrust, 'distrustOfFile'>;

const EXPECTED = 'a readable regular file';

/**
 * Reads a trusted file; undefined when there is none. Opens the file before the check, so that nobody can exchange it in between.
 * Follows and checks symbolic links. A dangling link is an error, because the user intended a file.
 *
 * @param extraBytes Allowed bytes beyond the size limit of a config, for other data in the file.
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
    // Not even a link exists, so the file is just missing.
    return false;
  }
}

/** {@link loadConfig} sets `fileName` to the path. */
export interface LoadOptions extends Omit<ParseOptions, 'fileName'> {
  /** Default: checks owner and mode. On Windows the default trusts no file; use `windowsFileTrust()` of `@wins/windows-host` there. */
  readonly trust?: ConfigTrust | undefined;
  /** Whether a missing file is an error, for example because the user named it. Default false. */
  readonly mustExist?: boolean | undefined;
}

/** A configuration and its file. */
export interface LoadedConfig extends ParsedConfig {
  /** Path as given, or {@link defaultConfigPath}. */
  readonly path: string;
  /** False without a file. All values are defaults then, and no program may run. */
  readonly found: boolean;
  /** Bytes of the file, which may contain secrets. Absent without a file. */
  readonly bytes?: Uint8Array | undefined;
  /** Digest of the file, in lower-case hex; absent without a file. */
  readonly sha256?: string | undefined;
}

/**
 * Loads a config file, by default {@link defaultConfigPath}. A missing file gives the defaults, unless it must exist. When you
 * reload, keep the last good value if this throws or `found` becomes false.
 *
 * @throws ConfigError `invalid` for the content; `notRegularFile`, also for a dangling link; `accessDenied`; `insecure` when
 * other users may change or replace the file or a link to it; `tooLarge` above 1 MiB; `notFound` when a parent is not a
 * directory, or a required file is missing; `unknown`.
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
