import { encodeText } from '@wins/trusted-files';
import { isDeepStrictEqual } from 'node:util';
import { folded } from '../guard/dropped-keys.js';
import { decodeConfig, readSource } from '../parse/yaml-source.js';
import { readFileValues } from '../parse/file-values.js';
import { type ParsedConfig, parseConfig } from '../parse/parse-config.js';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import { bystanderChanged, changedBystander, listAt } from './edit-config.js';
import { changeText, putTopKey, type EditItem } from './edit-text.js';

const PROGRAMS = 'white_list.processPaths';
const PORTS = 'white_list.proxyPorts';
const UDP_PORTS = 'white_list.proxyUdpPorts';

/** A config file merged with the keys of another. */
export interface MergedConfig {
  readonly text: string;
  /** `text` in the encoding of the file, with its byte order mark. */
  readonly bytes: Buffer;
  /** Top-level keys that only the file sets. They are unchanged. */
  readonly kept: readonly string[];
}

/** Options of {@link mergeConfig}. */
export interface MergeOptions {
  /** Name for the file in error messages. Default `config`. */
  readonly fileName?: string | undefined;
  /** Name for the changes in error messages. Default `changes`. */
  readonly changesName?: string | undefined;
  /** Platform whose rules apply. On Windows, paths in the whitelist are compared without case. Default: the platform of this process. */
  readonly platform?: NodeJS.Platform | undefined;
}

/**
 * Copies the top-level keys of `changes` into the text of `source`. A copied key replaces that key in `source`, however it is
 * spelled there. Other keys and comments of `source` stay byte for byte.
 *
 * In `white_list`, an entry of `processPaths` replaces the entry with the same path, or is added. Ports are added. So a merge
 * removes no program or port.
 *
 * @throws ConfigError `invalid`: a text or the result is invalid, the changes have an unknown key, or the merge would affect
 * other keys (through an alias, for example).
 */
export function mergeConfig(
  source: string | Uint8Array,
  changes: string | Uint8Array,
  options: MergeOptions = {},
): MergedConfig {
  const { fileName = 'config', changesName = 'changes', platform = process.platform } = options;
  const wanted = parseConfig(changes, { fileName: changesName, platform, strict: true });
  const before = parseConfig(source, { fileName, platform });
  const named = topValues(changes, changesName);
  const decoded = decodeConfig(source, fileName);
  let text = decoded.mark + decoded.text;
  const there = topValues(source, fileName);
  for (const [key, value] of Object.entries(named)) {
    // Keep the text of an unchanged value, which may contain comments.
    if (key === 'white_list' || isDeepStrictEqual(there[key], value)) continue;
    text = putTopKey(text, key, value, fileName);
  }
  const { processPaths, proxyPorts, proxyUdpPorts } = (named['white_list'] ?? {}) as Lists;
  const join = (path: string, added: readonly EditItem[] | undefined): void => {
    if (added === undefined || added.length === 0) return;
    const current = listAt(text, path);
    text = changeText(text, path, joined(current, added, platform), current, fileName);
  };
  join(PROGRAMS, processPaths);
  join(PORTS, proxyPorts);
  join(UDP_PORTS, proxyUdpPorts);

  const after = parseConfig(text, { fileName, platform });
  const topKeys = Object.keys(named).filter((key) => key !== 'white_list');
  const paths = [...topKeys, PROGRAMS, PORTS, UDP_PORTS];
  const wrong = changedBystander(before, after, paths) ?? misplaced(wanted, after, topKeys);
  if (wrong !== undefined) {
    const found = 'that merging the two files would change this key';
    throw bystanderChanged(fileName, wrong, found);
  }
  const set = before.origins.filter(({ origin }) => origin !== 'default');
  const kept = new Set(set.map(({ key }) => key.replace(/[.[].*$/s, '')));
  const bytes = encodeText(text, decoded.encoding);
  return { text, bytes, kept: [...kept].filter((key) => !Object.hasOwn(named, key)) };
}

type Lists = Readonly<
  Partial<Record<'processPaths' | 'proxyPorts' | 'proxyUdpPorts', readonly EditItem[]>>
>;

function topValues(source: string | Uint8Array, file: string): Readonly<Record<string, unknown>> {
  const { value } = readFileValues(readSource(source, file), FILE_SCHEMA, false);
  return value as Record<string, unknown>;
}

/** Existing items keep their order, so that their comments stay with them. */
function joined(
  current: readonly EditItem[],
  added: readonly EditItem[],
  platform: NodeJS.Platform,
): readonly EditItem[] {
  const nameOf = (item: EditItem): string => {
    if (typeof item === 'number') return String(item);
    const path = typeof item === 'string' ? item : item.path;
    return platform === 'win32' ? folded(path) : path;
  };
  const names = new Set(added.map(nameOf));
  const isThere = (item: EditItem) => current.some((other) => isDeepStrictEqual(item, other));
  const isAdded = (item: EditItem) => added.some((other) => isDeepStrictEqual(item, other));
  return [
    ...current.filter((item) => !names.has(nameOf(item)) || isAdded(item)),
    ...added.filter((item) => !isThere(item)),
  ];
}

function misplaced(
  wanted: ParsedConfig,
  after: ParsedConfig,
  topKeys: readonly string[],
): string | undefined {
  const now = new Map(after.origins.map(({ key, value }) => [key, value]));
  const isOf = (key: string, top: string) => key === top || /^[.[]/.test(key.slice(top.length));
  return wanted.origins.find(
    ({ key, value }) =>
      topKeys.some((top) => key.startsWith(top) && isOf(key, top)) &&
      !isDeepStrictEqual(now.get(key), value),
  )?.key;
}
