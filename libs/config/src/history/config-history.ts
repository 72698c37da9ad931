import { errnoOf, GUARDED_KEYS, type GuardedKey } from '@wins/base';
import { NumberedFiles } from '@wins/files';
import { fileSystemError, replaceFile, type FileTrust } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { fileError, translateFileError } from '../config-error.js';
import { readConfigFile, type LoadedConfig } from '../load/load-config.js';
import { parseConfig, type ParseOptions } from '../parse/parse-config.js';

/** Trust rules of the history, the same as those of the config file. */
export type HistoryTrust = Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;

/** `served`: took effect in a daemon. `before`: was used by the service before the last upgrade. `aside`: was replaced by a rollback. */
export type EntryKind = 'served' | 'before' | 'aside';

/** Maximum number of entries of each kind; the oldest go first. */
const KEPT: Readonly<Record<EntryKind, number>> = { served: 5, before: 1, aside: 3 };

/** Guarded keys that a daemon lost at a start, with the time of that start. Since then, they were neither restored nor accepted as lost. */
export interface LostKeys {
  readonly keys: readonly GuardedKey[];
  /** In ISO 8601; absent without keys. */
  readonly since?: string | undefined;
}

/** An earlier content of a config file. */
export interface HistoryEntry {
  /** File of the entry: a comment line of wins, then exactly `bytes`. */
  readonly path: string;
  /** Undefined if the daemon served without a config file. */
  readonly bytes: Buffer | undefined;
  /** Digest of `bytes`, or of nothing, in lower-case hex. */
  readonly sha256: string;
  readonly lost: LostKeys;
}

/** The config that a daemon served last. */
export interface ServedConfig extends LoadedConfig {
  readonly lost: LostKeys;
}

const MAX_HEADER_BYTES = 1024;
const HEADER = /^# wins: (\{.*\})$/;
const headerSchema = z.object({
  sha256: z.string(),
  isAbsent: z._default(z.boolean(), false),
  lost: z._default(z.array(z.string()), []),
  lostSince: z.optional(z.string()),
});

/**
 * The previous contents of a config file, in the private folder `FILE.history` beside it. Each entry is one file that is replaced atomically, so a
 * crash leaves a readable history. Only administrators and this user can read it, because a config may contain secrets.
 */
export class ConfigHistory {
  /** Path of the folder, which may be absent. */
  readonly folder: string;
  readonly #trust: HistoryTrust;

  constructor(configFile: string, trust: HistoryTrust) {
    this.folder = historyFolder(configFile);
    this.#trust = trust;
  }

  /**
   * Returns the newest entry of a kind; undefined if there is none.
   *
   * @throws ConfigError as `loadConfig`; `damaged` when the digest does not match.
   */
  async newest(kind: EntryKind): Promise<HistoryEntry | undefined> {
    const number = (await this.#numbers(kind)).at(-1);
    if (number === undefined) return undefined;
    const file = filesOf(this.folder, kind).pathOf(number);
    const read = await readConfigFile(file, this.#trust, MAX_HEADER_BYTES);
    return read && entryOf(file, read.bytes);
  }

  /**
   * Parses the newest config that a daemon served; undefined if there is none. `path` and the problems name the entry. `found` is false if the daemon
   * served without a config file.
   *
   * @param known A config that was parsed with the same options. If the entry has the same bytes, its values and warnings are returned, and nothing is
   * parsed.
   * @throws ConfigError as {@link newest}, and `invalid`.
   */
  async loadServed({
    known,
    ...options
  }: Omit<ParseOptions, 'fileName'> & { readonly known?: LoadedConfig | undefined } = {}): Promise<
    ServedConfig | undefined
  > {
    const entry = await this.newest('served');
    if (entry === undefined) return undefined;
    const { path: file, bytes, sha256, lost } = entry;
    const found = bytes !== undefined;
    const isKnown = found && sha256 === known?.sha256;
    const parsed = isKnown ? known : parseConfig(bytes ?? '', { ...options, fileName: file });
    return { ...parsed, path: file, found, lost, ...(found && { bytes, sha256 }) };
  }

  /**
   * Adds an entry, durably. If the newest entry of this kind has the same bytes, replaces that one.
   *
   * @param bytes Undefined: there is no config file.
   * @returns File of the entry.
   * @throws ConfigError; the previous entries then stay.
   */
  async add(
    kind: EntryKind,
    bytes: Uint8Array | undefined,
    lost: LostKeys = { keys: [] },
  ): Promise<string> {
    const content = bytes ?? Buffer.alloc(0);
    const header = {
      sha256: digestOf(content),
      ...(bytes === undefined && { isAbsent: true }),
      ...(lost.keys.length > 0 && { lost: lost.keys, lostSince: lost.since }),
    };
    try {
      this.#trust.ensurePrivateFolder(this.folder);
      const files = filesOf(this.folder, kind);
      const numbers = await this.#numbers(kind);
      // A damaged entry is kept as evidence, and superseded.
      const newest = await this.newest(kind).catch(() => undefined);
      const isSame =
        newest?.sha256 === header.sha256 && (newest.bytes === undefined) === (bytes === undefined);
      const number = (numbers.at(-1) ?? 0) + (isSame ? 0 : 1);
      const file = files.pathOf(number);
      await replaceFile(
        file,
        Buffer.concat([Buffer.from(`# wins: ${JSON.stringify(header)}\n`), content]),
      );
      await files.remove(numbers.filter((each) => each <= number - KEPT[kind]));
      return file;
    } catch (error) {
      throw translateFileError(error, this.folder, 'a folder in which the config can be saved');
    }
  }

  async #numbers(kind: EntryKind): Promise<readonly number[]> {
    try {
      return await filesOf(this.folder, kind).numbers();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw translateFileError(
        fileSystemError(error, 'read', this.folder),
        this.folder,
        'a readable folder',
      );
    }
  }
}

/** Returns the folder of a config file's history. */
export function historyFolder(configFile: string): string {
  return `${path.resolve(configFile)}.history`;
}

function filesOf(folder: string, prefix: EntryKind): NumberedFiles {
  return new NumberedFiles({ folder, prefix, suffix: 'yaml', digits: 6 });
}

function entryOf(file: string, content: Buffer): HistoryEntry {
  const end = content.subarray(0, MAX_HEADER_BYTES).indexOf('\n');
  const header = headerOf(content.subarray(0, Math.max(0, end)).toString());
  const bytes = content.subarray(end + 1);
  if (header?.sha256 !== digestOf(bytes)) {
    const found = header === undefined ? 'no digest in its first line' : 'content that was changed';
    throw fileError('damaged', file, found, 'a config as wins has saved it');
  }
  const { isAbsent, sha256, lost, lostSince: since } = header;
  const keys = GUARDED_KEYS.filter((key) => lost.includes(key));
  return { path: file, bytes: isAbsent ? undefined : bytes, sha256, lost: { keys, since } };
}

/** Whether a daemon stores the configs that it serves. False if the history is unreadable. */
export async function isServedKept(configFile: string): Promise<boolean> {
  const numbers = await filesOf(historyFolder(configFile), 'served')
    .numbers()
    .catch(() => []);
  return numbers.length > 0;
}

function headerOf(line: string) {
  try {
    return headerSchema.parse(JSON.parse(HEADER.exec(line)?.[1] ?? ''));
  } catch {
    return undefined;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
