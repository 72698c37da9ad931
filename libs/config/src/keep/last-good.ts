import {
  replaceFile,
  openRegularFile,
  readWhole,
  TrustedFileError,
  type FileTrust,
} from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { rm, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileError, translateFileError } from '../config-error.js';
import { readConfigFile, type LoadedConfig, type ConfigTrust } from '../load/load-config.js';
import { parseConfig, type ParseOptions } from '../parse/parse-config.js';
import { errnoOf } from '@wins/base';
import { existsSync } from 'node:fs';
import { MAX_CONFIG_BYTES } from '../parse/yaml-source.js';

/** Trust rules of the saved files, the same as those of the config file. */
export type KeepTrust = Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;

/** Folder beside a config file, for a copy of the config in force. Private, because a config may contain secrets. */
export function lastGoodFolder(file: string): string {
  return `${path.resolve(file)}.last-good`;
}

/** Copy of the config in force: a digest in a YAML comment line, then the original bytes. */
export function lastGoodFile(file: string): string {
  return path.join(lastGoodFolder(file), 'config');
}

const HEADER = /^# wins: the config in force; the SHA-256 of what follows: ([0-9a-f]{64})\n$/;
const headerOf = (sha256: string): Buffer =>
  Buffer.from(`# wins: the config in force; the SHA-256 of what follows: ${sha256}\n`);
const HEADER_BYTES = headerOf('0'.repeat(64)).length;

/**
 * Saves the config in force, durably and atomically. If there is no config file, removes the copy.
 *
 * @throws ConfigError; the previous copy then stays.
 */
export async function keepLastGood(loaded: LoadedConfig, trust: KeepTrust): Promise<void> {
  const { path: file, bytes, sha256 } = loaded;
  try {
    if (bytes === undefined || sha256 === undefined) {
      await forgetLastGood(file);
      return;
    }
    trust.ensurePrivateFolder(lastGoodFolder(file));
    await replaceFile(lastGoodFile(file), Buffer.concat([headerOf(sha256), bytes]));
  } catch (error) {
    throw translateFileError(error, lastGoodFile(file), 'a folder in which the copy can be saved');
  }
}

/** Removes the saved copy. Idempotent. */
export async function forgetLastGood(file: string): Promise<void> {
  await rm(lastGoodFolder(file), { recursive: true, force: true });
}

/**
 * Loads the saved copy of a config file; undefined if there is none. `path` and the problems in the result name the copy.
 *
 * @throws ConfigError as {@link loadConfig}; `damaged` when the digest does not match.
 */
export async function loadLastGood(
  file: string,
  { trust, ...options }: Omit<ParseOptions, 'fileName'> & { readonly trust: KeepTrust },
): Promise<LoadedConfig | undefined> {
  const kept = lastGoodFile(file);
  const bytes = await readLastGood(file, trust);
  if (bytes === undefined) return undefined;
  const parsed = parseConfig(bytes, { ...options, fileName: kept });
  return { ...parsed, path: kept, found: true, bytes, sha256: digestOf(bytes) };
}

/** Undefined if there is no copy. @throws ConfigError as {@link loadLastGood}. */
export async function readLastGood(
  file: string,
  trust: Pick<KeepTrust, 'distrustOfFile'>,
): Promise<Uint8Array | undefined> {
  const kept = lastGoodFile(file);
  const read = await readConfigFile(kept, trust, HEADER_BYTES);
  if (read === undefined) return undefined;
  const [, sha256] =
    HEADER.exec(Buffer.from(read.bytes.subarray(0, HEADER_BYTES)).toString()) ?? [];
  const bytes = read.bytes.subarray(HEADER_BYTES);
  if (sha256 === digestOf(bytes)) return bytes;
  const found = sha256 === undefined ? 'no digest in its first line' : 'content that was changed';
  throw fileError('damaged', kept, found, 'the saved copy of the config in force');
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Maximum number of copies in the folder `FILE.replaced`. When a further copy is saved, the oldest is removed. */
const MOST_KEPT = 4;
/** Tolerance: the clocks of process starts and file changes differ by some hundredths of a second. */
const CLOCKS_DIFFER_MS = 1_000;
/** File name `START-END`: when the content was in place, in milliseconds since 1970. */
const NAME = /^(\d{1,15})-(\d{1,15})$/;

interface Kept {
  readonly name: string;
  readonly since: number;
  readonly until: number;
}

function folderOf(file: string): string {
  return `${path.resolve(file)}.replaced`;
}

/**
 * Saves a config file before it is replaced, because a running Go daemon uses the old content and keeps no copy.
 * Saves nothing if there is no file, if it is too large, or if the daemon keeps a copy itself. The folder `FILE.replaced` keeps
 * at most four copies. Only this user can read it; on Windows it inherits the access list of its parent.
 *
 * @throws ConfigError when the copy cannot be saved.
 */
export async function keepReplaced(file: string): Promise<void> {
  if (existsSync(lastGoodFile(file))) return;
  const folder = folderOf(file);
  try {
    const found = await readReplaceable(file);
    if (found === undefined) return;
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    const added = { name: `${found.since}-${Date.now()}`, since: found.since };
    await replaceFile(path.join(folder, added.name), found.bytes);
    const others = (await list(folder)).filter(({ name }) => name !== added.name);
    // `since` is the modification time of the config file. An older copy with the same `since` has the same content, because the
    // file was not replaced in between. The new copy supersedes the older one.
    const again = others.filter(({ since }) => since === added.since);
    const earlier = others.filter(({ since }) => since !== added.since);
    const surplus = Math.max(0, earlier.length + 1 - MOST_KEPT);
    for (const { name } of [...again, ...earlier.slice(0, surplus)])
      await rm(path.join(folder, name), { force: true });
  } catch (error) {
    throw translateFileError(error, folder, 'a folder in which the replaced config can be saved');
  }
}

/**
 * Reads the content that the file had at `atMs`, in milliseconds since 1970. Undefined if it was not saved, or is still current.
 *
 * @throws ConfigError as {@link loadConfig}.
 */
export async function readReplaced(
  file: string,
  atMs: number,
  trust: ConfigTrust,
): Promise<Uint8Array | undefined> {
  const folder = folderOf(file);
  let kept: readonly Kept[];
  try {
    kept = await list(folder);
  } catch (error) {
    throw translateFileError(error, folder, 'a readable folder');
  }
  const inForce = kept.find(({ since, until }) => since - CLOCKS_DIFFER_MS <= atMs && atMs < until);
  if (inForce === undefined) return undefined;
  return (await readConfigFile(path.join(folder, inForce.name), trust))?.bytes;
}

/** Call after a daemon has started with the new config. Idempotent. */
export async function forgetReplaced(file: string): Promise<void> {
  await rm(folderOf(file), { recursive: true, force: true });
}

/** Oldest first. */
async function list(folder: string): Promise<readonly Kept[]> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const kept = names.flatMap((name) => {
    const [, since, until] = NAME.exec(name) ?? [];
    return until === undefined ? [] : [{ name, since: Number(since), until: Number(until) }];
  });
  return kept.sort((a, b) => a.until - b.until);
}

async function readReplaceable(
  file: string,
): Promise<{ readonly bytes: Uint8Array; readonly since: number } | undefined> {
  try {
    const opened = await openRegularFile(file);
    try {
      const { mtimeMs } = opened.stats;
      const bytes = await readWhole(opened, { maxBytes: MAX_CONFIG_BYTES });
      return { bytes, since: Math.max(0, Math.floor(mtimeMs)) };
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    if (error.code === 'notFound' || error.code === 'tooLarge') return undefined;
    throw error;
  }
}
