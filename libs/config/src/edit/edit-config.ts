import { encodeText } from '@wins/trusted-files';
import { ConfigError, contentError } from '../config-error.js';
import { type ConfigProblem, quote, describeProblem } from '../problems/config-problem.js';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import { fieldsOf, keysBelow } from '../schema/notation.js';
import { changeText, type EditItem, type EditValue } from './edit-text.js';
import { decodeConfig, readSource } from '../parse/yaml-source.js';
import { readFileValues } from '../parse/file-values.js';
import { nearestKey } from '../parse/key-spelling.js';
import { type ParsedConfig, parseConfig } from '../parse/parse-config.js';

/** New values by canonical key path (`debug`, `white_list.proxyPorts`); null removes a key. Set the keys of a section one by one. */
export type ConfigChanges = Readonly<Record<string, EditValue | null>>;

/** Options of {@link editConfig}. */
export interface EditOptions {
  /** File name in problems. Default `config`. */
  readonly fileName?: string | undefined;
}

/**
 * Changes keys in the text of a config file. All other lines stay byte for byte: comments, order, unknown keys, line ends, byte
 * order mark, and encoding.
 *
 * @throws ConfigError `invalid`: the text is invalid before or after the change, a key path is unknown, or the change would
 * affect other keys (through an alias, for example).
 */
export function editConfig(source: string, changes: ConfigChanges, options?: EditOptions): string;
/** Changes keys in the bytes of a config file, and keeps their encoding. Also throws ConfigError `tooLarge` above 1 MiB. */
export function editConfig(
  source: Uint8Array,
  changes: ConfigChanges,
  options?: EditOptions,
): Buffer;
export function editConfig(
  source: string | Uint8Array,
  changes: ConfigChanges,
  options: EditOptions = {},
): string | Buffer {
  const { fileName = 'config' } = options;
  if (typeof source === 'string') return editText(source, changes, fileName);
  const { encoding, mark, text } = decodeConfig(source, fileName);
  return encodeText(editText(mark + text, changes, fileName), encoding);
}

function editText(source: string, changes: ConfigChanges, fileName: string): string {
  const edits = Object.entries(changes);
  const refusals = edits.flatMap(([path, value]) => refuseChange(path, value, fileName));
  if (refusals.length > 0) throw new ConfigError('invalid', refusals);

  const before = parseConfig(source, { fileName });
  let text = source;
  for (const [path, value] of edits)
    text = changeText(text, path, value, listAt(text, path), fileName);
  const after = parseConfig(text, { fileName });

  const paths = Object.keys(changes);
  const bystander = changedBystander(before, after, paths);
  if (bystander !== undefined) {
    const found = `that changing ${paths.join(', ')} would change this key, too`;
    throw bystanderChanged(fileName, bystander, found);
  }
  return text;
}

function refuseChange(path: string, value: EditValue | null, file: string): ConfigProblem[] {
  const known = new Map([...keysBelow(FILE_SCHEMA)].filter(([key]) => !key.includes('[]')));
  const field = known.get(path);
  if (field === undefined) {
    const keys = [...known.keys()];
    const found = `the unknown key path ${quote(path)}`;
    const nearest = nearestKey(path, keys);
    const expected = nearest === undefined ? `one of ${keys.join(', ')}` : quote(nearest);
    return [refusal(file, 'unknownKey', path, found, expected)];
  }
  if (value === null || fieldsOf(field) === undefined) return [];
  const wanted = 'null, or its keys one by one';
  return [refusal(file, 'wrongType', path, 'a value for a section', wanted)];
}

/** Returns the entries as written, including repeats. */
export function listAt(text: string, path: string): readonly EditItem[] {
  let value = readFileValues(readSource(text, ''), FILE_SCHEMA, false).value;
  for (const key of path.split('.'))
    value =
      typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[key]
        : undefined;
  return Array.isArray(value) ? (value as EditItem[]) : [];
}

/** Returns a key that changed although `paths` does not cover it; undefined if there is no such key. */
export function changedBystander(
  before: ParsedConfig,
  after: ParsedConfig,
  paths: readonly string[],
): string | undefined {
  const old = valuesOf(before);
  const now = valuesOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].find((key) => {
    if (old.get(key) === now.get(key)) return false;
    // Setting the first key of a section also adds the defaults of its other keys.
    const appeared = old.has(key) !== now.has(key);
    return !paths.some(
      (path) => isWithin(key, path) || (appeared && isWithin(key, path.split('.')[0] ?? path)),
    );
  });
}

function valuesOf({ origins }: ParsedConfig): ReadonlyMap<string, string> {
  return new Map(origins.map(({ key, value }) => [key, JSON.stringify(value)]));
}

function isWithin(key: string, path: string): boolean {
  return key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`);
}

export function bystanderChanged(file: string, keyPath: string, found: string): ConfigError {
  const expected = 'keys that do not depend on each other';
  return contentError({ code: 'unsupported', file, keyPath, found, expected });
}

function refusal(
  file: string,
  code: 'unknownKey' | 'wrongType',
  keyPath: string,
  found: string,
  expected: string,
): ConfigProblem {
  return describeProblem({ severity: 'error', code, file, keyPath, found, expected });
}
