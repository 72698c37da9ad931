import { createHash } from 'node:crypto';
import { readConfigFile, type ConfigTrust } from './config-file.js';
import { fileError } from '../config-error.js';
import { defaultConfigPath } from '../default-config.js';
import { type ParsedConfig, parseConfig, type ParseOptions } from '../parse/parse-config.js';

/** How to load a configuration; the file name is the path. */
export interface LoadOptions extends Omit<ParseOptions, 'fileName'> {
  /** Judges who could have put the file there, or can change it. Default: by owner and mode; on Windows nothing is known. */
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
 * It has no state and changes nothing: to reload, call it again and keep the last good value when it throws
 * or when `found` turns false.
 * @param path Default {@link defaultConfigPath}.
 * @throws ConfigError `invalid` for the content; else what is wrong with the file: `notRegularFile` (a directory,
 *   device, FIFO, or a link to nothing), `accessDenied`, `insecure` (others may write it, or replace it or a link to it), `tooLarge`
 *   (above 1 MiB), `notFound` (a parent is no directory, or it must exist), `unknown`.
 */
export async function loadConfig(path?: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const file = path ?? defaultConfigPath(options.platform);
  const read = await readConfigFile(file, options.trust);
  if (read === undefined && options.mustExist === true) {
    throw fileError('notFound', file, 'no such file', 'a config file', {
      nextStep: 'write it, or name another one',
    });
  }
  const parsed = parseConfig(read?.bytes ?? '', { ...options, fileName: file });
  if (read === undefined) return { ...parsed, path: file, found: false };
  const sha256 = createHash('sha256').update(read.bytes).digest('hex');
  return { ...parsed, path: file, found: true, bytes: read.bytes, sha256 };
}
