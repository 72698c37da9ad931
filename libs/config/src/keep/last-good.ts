import { replaceFile, type FileTrust } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from '../config-error.js';
import { translateFileError } from '../file-errors.js';
import { readConfigFile } from '../load/config-file.js';
import type { LoadedConfig } from '../load/load-config.js';
import { parseConfig, type ParseOptions } from '../parse/parse-config.js';

/** Who may touch what is kept: the rule by which the config file itself is judged. */
export type KeepTrust = Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;

/** The folder beside a config file in which a daemon keeps what it serves with; private, as a config may hold secrets. */
export function lastGoodFolder(file: string): string {
  return `${path.resolve(file)}.last-good`;
}

/** The config that a daemon served with last: a line with its digest, a comment of YAML, and the bytes as they were. */
export function lastGoodFile(file: string): string {
  return path.join(lastGoodFolder(file), 'config');
}

const HEADER = /^# wins: the config in force; the SHA-256 of what follows: ([0-9a-f]{64})\n$/;
const headerOf = (sha256: string): Buffer =>
  Buffer.from(`# wins: the config in force; the SHA-256 of what follows: ${sha256}\n`);
const HEADER_BYTES = headerOf('0'.repeat(64)).length;

/**
 * Keeps the bytes of a config that is in force, durably and as one act. Of one without a file nothing is kept, and what was kept before is
 * removed: it is not what the daemon serves with.
 *
 * @throws ConfigError; what was kept before is untouched then.
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
    throw translateFileError(error, lastGoodFile(file), 'a folder in which it can be kept');
  }
}

/** Removes what is kept for a config file. Idempotent. */
export async function forgetLastGood(file: string): Promise<void> {
  await rm(lastGoodFolder(file), { recursive: true, force: true });
}

/**
 * Reads what is kept for a config file, by the rules for the file itself. Problems name the kept file; the result is the config of `file`.
 *
 * @returns Undefined when nothing is kept.
 * @throws ConfigError as for loading; `damaged` when the bytes are not those that were kept.
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

/**
 * The bytes that are kept for a config file, exactly as they were in force.
 *
 * @returns Undefined when nothing is kept.
 * @throws ConfigError `insecure`, `damaged`, and others as for loading.
 */
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
  const found = sha256 === undefined ? 'no digest in its first line' : 'other bytes than were kept';
  throw fileError('damaged', kept, found, 'the config that was in force, as it was kept');
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
