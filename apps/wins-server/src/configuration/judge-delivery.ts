import {
  ConfigError,
  describeLosses,
  droppedKeys,
  mergeConfig,
  parseConfig,
  type GuardedParts,
} from '@wins/config';
import { readBytes, TrustedFileError } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { judgeConfig } from './judge-config.js';

export { keepReplaced, permitDrops } from '@wins/config';

/** A file that is to be delivered to a node, where a config may be in its place. */
export interface OfferedFile {
  readonly from: string;
  readonly to: string;
  /** Where the config of the node is as long as there is no file at `to`. */
  readonly base?: string | undefined;
  /** Whether `from` is a config whose keys are put into that of the node. */
  readonly merge: boolean;
  readonly allowDrop: readonly string[];
}

export type JudgedFile =
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'accepted';
      /** The bytes to write in place of the bytes of the file; absent for those. */
      readonly merged?: Buffer;
      /** Top-level keys of the node that a merge leaves as they are. */
      readonly kept: readonly string[];
      /** Whether the file at `to`, or the one that takes its place, is a config. */
      readonly isConfig: boolean;
      /** SHA-256 in lower-case hex of the file at `to` that was judged; absent when there is none. */
      readonly replaces?: string;
    };

/** A config has 1 MiB at most; a larger file is none. */
const LIMITS = { maxBytes: 1024 * 1024 };
const NOTHING: GuardedParts = { whiteList: { processPaths: [], proxyPorts: [] } };

/**
 * Judges a file before it is delivered: plans, csi-proxy and the whole whitelist do not go from a node by the way. A merged config is judged as a
 * whole, as the daemon judges it when it starts. Nothing is written.
 *
 * The file of the node counts as a config when it can be read as one. Where it cannot, nothing is known that could go; a daemon that
 * serves with guarded keys refuses the new file then.
 *
 * @throws TrustedFileError for a file that cannot be read.
 */
export async function judgeDelivery(offered: OfferedFile): Promise<JudgedFile> {
  const { from, to, base } = offered;
  const there = await readSmall(to);
  const node = there ?? (base === undefined ? undefined : await readSmall(base));
  const replaces =
    there === undefined ? {} : { replaces: createHash('sha256').update(there).digest('hex') };
  const names = { fileName: there === undefined ? (base ?? to) : to, changesName: from };
  try {
    if (offered.merge) {
      const changes = await readSmall(from);
      if (changes === undefined) {
        const reason = `there is no config to merge: ${from} is not a regular file of at most 1 MiB`;
        return { kind: 'refused', reason };
      }
      const { text, bytes, kept } = mergeConfig(node ?? '', changes, names);
      await judgeWhole(text, to);
      return { kind: 'accepted', merged: bytes, kept, isConfig: true, ...replaces };
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'refused', reason: error.message };
  }
  const [before, after] = [configOf(node), configOf(await readSmall(from))];
  const dropped = droppedKeys(before ?? NOTHING, after ?? NOTHING).filter(
    (key) => !offered.allowDrop.includes(key),
  );
  const isConfig = before !== undefined || after !== undefined;
  if (dropped.length === 0) return { kind: 'accepted', kept: [], isConfig, ...replaces };
  const options = dropped.map((key) => `--allow-drop ${key}`).join(' ');
  const reason = `the config ${names.fileName} would lose ${describeLosses(dropped)}. Keep that with --merge, or allow the loss with ${options}`;
  return { kind: 'refused', reason };
}

/** Judges a config for a host of this system, of which it is not known what is on its disk. */
async function judgeWhole(text: string, file: string): Promise<void> {
  const loaded = { ...parseConfig(text, { fileName: file }), path: file, found: true };
  await judgeConfig(loaded, { platform: process.platform, isStrict: false });
}

/** Undefined for no file, and for what is no config: programs are delivered as well. */
function configOf(bytes: Uint8Array | undefined): GuardedParts | undefined {
  if (bytes === undefined) return undefined;
  try {
    return parseConfig(bytes).config;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** The bytes of a file; undefined for one that is not there, is too large for a config, or is no regular file, which the delivery says. */
async function readSmall(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readBytes(path, { ...LIMITS, followLinks: true });
  } catch (error) {
    const code = error instanceof TrustedFileError ? error.code : 'unknown';
    if (['notFound', 'notRegularFile', 'tooLarge'].includes(code)) return undefined;
    throw error;
  }
}
