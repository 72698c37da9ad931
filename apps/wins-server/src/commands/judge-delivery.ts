import { describeLosses } from '@wins/base';
import { ConfigError, droppedKeys, mergeConfig, parseConfig, type WinsConfig } from '@wins/config';
import { readBytes, TrustedFileError } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { judgeConfig } from '../configuration/judge-config.js';
import { CHECKS } from '../features/checks.js';

export { keepReplaced, permitDrops } from '@wins/config';

export interface OfferedFile {
  readonly from: string;
  readonly to: string;
  readonly base?: string | undefined;
  readonly merge: boolean;
  readonly allowDrop: readonly string[];
}

export type JudgedFile =
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'accepted';
      /** Bytes to write instead of those of `from`. */
      readonly merged?: Buffer;
      readonly kept: readonly string[];
      readonly isConfig: boolean;
      /** SHA-256 (lower-case hex) of the existing file at `to`, if there is one. */
      readonly replaces?: string;
    };

/** A larger file is not a config. */
const LIMITS = { maxBytes: 1024 * 1024 };

/**
 * Judges a file before its delivery, so that no guarded key is lost by accident. With `merge`, judges the whole merged config. Otherwise, compares
 * the guarded keys with those of the existing config; an existing file that does not parse counts as having no guarded keys. Later, a running
 * daemon compares the delivered config with the config in force.
 * @throws TrustedFileError for an unreadable file.
 */
export async function judgeDelivery(offered: OfferedFile): Promise<JudgedFile> {
  const { from, to, base } = offered;
  const there = await readSmall(to);
  const node = there ?? (base === undefined ? undefined : await readSmall(base));
  const replaces =
    there === undefined ? {} : { replaces: createHash('sha256').update(there).digest('hex') };
  const names = { fileName: there === undefined ? (base ?? to) : to, changesName: from };
  const before = configOf(node);
  try {
    if (offered.merge) {
      const changes = await readSmall(from);
      if (changes === undefined) {
        const reason = `there is no config to merge: ${from} is not a regular file of at most 1 MiB`;
        return { kind: 'refused', reason };
      }
      const { text, bytes, kept } = mergeConfig(node ?? '', changes, names);
      await judgeWhole(text, to);
      // A section of the merged file replaces the whole section of the node.
      const reason = refuseLoss(before, configOf(bytes), offered, names.fileName);
      if (reason !== undefined) return { kind: 'refused', reason };
      return { kind: 'accepted', merged: bytes, kept, isConfig: true, ...replaces };
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The reason is part of a line, where a line end would be shown as an escape.
    return { kind: 'refused', reason: error.message.replaceAll('\n', '; ') };
  }
  const after = configOf(await readSmall(from));
  const reason = refuseLoss(before, after, offered, names.fileName);
  if (reason !== undefined) return { kind: 'refused', reason };
  const isConfig = before !== undefined || after !== undefined;
  return { kind: 'accepted', kept: [], isConfig, ...replaces };
}

function refuseLoss(
  before: WinsConfig | undefined,
  after: WinsConfig | undefined,
  { allowDrop, merge, from }: OfferedFile,
  file: string,
): string | undefined {
  const dropped = droppedKeys(
    before ?? parseConfig('').config,
    after ?? parseConfig('').config,
  ).filter((key) => !allowDrop.includes(key));
  if (dropped.length === 0) return undefined;
  const options = dropped.map((key) => `--allow-drop ${key}`).join(' ');
  const advice = merge ? `Add it to ${from}` : 'Keep that with --merge';
  return `the config ${file} would lose ${describeLosses(dropped)}. ${advice}, or allow the loss with ${options}`;
}

/** Judges a config for this operating system without reading the disk. */
async function judgeWhole(text: string, file: string): Promise<void> {
  const loaded = { ...parseConfig(text, { fileName: file }), path: file, found: true };
  await judgeConfig(loaded, { platform: process.platform, isStrict: false }, CHECKS);
}

/** Returns undefined for bytes that are not a config, because programs are delivered too. */
function configOf(bytes: Uint8Array | undefined): WinsConfig | undefined {
  if (bytes === undefined) return undefined;
  try {
    return parseConfig(bytes).config;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Returns undefined for a file that is missing, not regular, or too large for a config. The caller or `deliverFile` decides if that is an error. */
async function readSmall(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readBytes(path, { ...LIMITS, followLinks: true });
  } catch (error) {
    const code = error instanceof TrustedFileError ? error.code : 'unknown';
    if (['notFound', 'notRegularFile', 'tooLarge'].includes(code)) return undefined;
    throw error;
  }
}
