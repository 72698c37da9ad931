import { errnoOf, GUARDED_KEYS, type GuardedKey } from '@wins/base';
import { StateFile } from '@wins/files';
import {
  openRegularFile,
  fileSystemError,
  posixFileTrust,
  readWhole,
  replaceFile,
  TrustedFileError,
} from '@wins/trusted-files';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { translateFileError } from '../config-error.js';
import { readConfigFile, type ConfigTrust } from '../load/load-config.js';
import { MAX_CONFIG_BYTES } from '../parse/yaml-source.js';
import { historyFolder, isServedKept } from './config-history.js';

/** Maximum number of replaced configs. When a further copy is saved, the oldest is removed. */
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

/**
 * Folder of what a program that delivers a config tells the daemon and the upgrade. It is not part of the history, which is private: the program may
 * run in a container that can write beside the config, but cannot make a folder private to the host's administrators.
 */
function folderOf(file: string): string {
  return `${path.resolve(file)}.delivered`;
}

/**
 * Saves a config file before it is replaced, because a running Go daemon uses the old content and keeps no copy.
 * Saves nothing if there is no file, if it is too large, or if the daemon keeps a copy itself. The folder `FILE.delivered` keeps
 * at most four copies. Only this user can read it; on Windows it inherits the access list of its parent.
 *
 * @throws ConfigError when the copy cannot be saved.
 */
export async function keepReplaced(file: string): Promise<void> {
  if (await isServedKept(file)) return;
  const folder = folderOf(file);
  try {
    const found = await readReplaceable(file);
    if (found === undefined) return;
    await ensureFolder(folder);
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

const MAX_PERMISSION_BYTES = 4096;
const permissionSchema = z.object({ sha256: z.string(), allowDrop: z.array(z.unknown()) });

/**
 * Permits a config with this SHA-256 (lower-case hex) to drop keys. The permission lies in the folder `FILE.delivered`, so that it survives a restart
 * and works through a mount. Only users who may replace the config can write there. Replaces an earlier permission; an empty list removes it.
 *
 * @throws ConfigError `accessDenied`, `notFound` (no folder), `unknown`.
 */
export async function permitDrops(
  file: string,
  sha256: string,
  keys: readonly string[],
): Promise<void> {
  const permission = permissionFor(file);
  try {
    if (keys.length === 0) {
      await permission.remove();
      return;
    }
    await ensureFolder(folderOf(file));
    await permission.write({ sha256, allowDrop: keys });
  } catch (error) {
    throw translateFileError(error, permission.path, 'a folder in which the file can be replaced');
  }
}

/**
 * Returns the keys that a config with this SHA-256 may drop. If the permission is missing, unreadable or not trusted, the config may drop no key.
 */
export async function permittedDrops(
  file: string,
  sha256: string | undefined,
  trust: ConfigTrust = posixFileTrust(),
): Promise<readonly GuardedKey[]> {
  if (sha256 === undefined) return [];
  const found = await permissionFor(file, trust)
    .read()
    .catch(() => undefined);
  if (found?.sha256 !== sha256) return [];
  return GUARDED_KEYS.filter((key) => found.allowDrop.includes(key));
}

function permissionFor(file: string, trust?: ConfigTrust) {
  return new StateFile({
    path: path.join(folderOf(file), 'permission.json'),
    maxBytes: MAX_PERMISSION_BYTES,
    trust,
    parse: (json) => permissionSchema.parse(json),
    damaged: () => undefined,
  });
}

/**
 * Removes the replaced configs, and the permission of the config with this SHA-256. Call once a daemon serves and stores this config. A permission for
 * another config stays, because its delivery may just be under way. Idempotent.
 *
 * @throws ConfigError when something cannot be removed.
 */
export async function forgetDeliveries(file: string, sha256?: string): Promise<void> {
  const folder = folderOf(file);
  try {
    for (const { name } of await list(folder)) await rm(path.join(folder, name), { force: true });
    const permission = permissionFor(file);
    if (sha256 !== undefined && (await permission.read())?.sha256 === sha256)
      await permission.remove();
    await rmdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) return;
    throw translateFileError(error, folder, 'a folder whose files can be removed');
  }
}

/** Removes the history of a config file, and what deliveries have left. Idempotent. */
export async function forgetHistory(file: string): Promise<void> {
  for (const folder of [historyFolder(file), folderOf(file)])
    await rm(folder, { recursive: true, force: true });
}

async function ensureFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw fileSystemError(error, 'make the folder', folder);
  }
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
