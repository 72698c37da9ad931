import type * as z from 'zod';
import { defaultWatchingPath } from '../default-config.js';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import {
  bareSchema,
  entryOf,
  fieldsOf,
  keysBelow,
  notationOf,
  notesOf,
} from '../schema/notation.js';
import { foldKey, nearestKey, spellingsOf } from '../parse/key-spelling.js';

/** A key of the file, as an operator must know it. */
export interface ConfigKey {
  /** Canonical key path; `[]` stands for an entry of a list: `white_list.processPaths[].sha256`. */
  readonly key: string;
  readonly meaning: string;
  /** What a value may be: `a port number from 1 to 65535`. */
  readonly type: string;
  /** The value without the key; undefined when there is none, or when `absent` says what holds. */
  readonly default: unknown;
  /** What holds without the key, in words, where that is no value. */
  readonly absent: string | undefined;
  /** The first release that knows the key; those before 1.0.0 are the Go program's. */
  readonly since: string;
  /** The canonical spelling of the last word first; the others are accepted with a warning, as is any case of ASCII letters. */
  readonly spellings: readonly string[];
}

/** Every key of the file in the order of the documentation, sections before their keys. Pure. */
export function configKeys(platform: NodeJS.Platform = process.platform): readonly ConfigKey[] {
  return Array.from(keysBelow(FILE_SCHEMA), ([key, schema]) => keyOf(key, schema, platform));
}

/**
 * The keys that a text means, in any accepted spelling: one key or section with all that is in it, or every key whose path
 * ends so (`sha256`). Indexes count as `[]`. Pure.
 *
 * @returns Empty when there is no such key; `nearest` is the known key that comes nearest to it, if one is near.
 */
export function findConfigKeys(
  text: string,
  platform?: NodeJS.Platform,
): { readonly keys: readonly ConfigKey[]; readonly nearest?: string } {
  const all = configKeys(platform);
  const wanted = folded(text);
  const within = all.filter(({ key }) => {
    const path = folded(key);
    return path === wanted || path.startsWith(`${wanted}.`);
  });
  if (within.length > 0) return { keys: within };
  const ending = all.filter(({ key }) => folded(key).endsWith(`.${wanted}`));
  if (ending.length > 0) return { keys: ending };
  const nearest =
    nearestKey(
      text,
      all.map(({ key }) => key),
    ) ??
    nearestKey(
      text,
      all.map(({ key }) => lastWordOf(key)),
    );
  return { keys: [], ...(nearest !== undefined && { nearest }) };
}

function lastWordOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function folded(path: string): string {
  return path
    .split('.')
    .map((word) => foldKey(word.replace(/\[\d*\]$/, '')))
    .join('.');
}

function keyOf(key: string, schema: z.core.$ZodType, platform: NodeJS.Platform): ConfigKey {
  const { description = '', since = '', absent } = notesOf(schema);
  const isSection = fieldsOf(schema) !== undefined;
  const value = isSection ? undefined : (schema as z.ZodType).safeParse(undefined).data;
  return {
    key,
    meaning: description,
    type: typeOf(schema),
    // The one default that depends on the platform.
    default: key === 'upgrade.watchingPath' ? defaultWatchingPath(platform) : value,
    absent,
    since,
    spellings: spellingsOf(lastWordOf(key)),
  };
}

/** What a value may be, in the words of the schema itself: those with which it refuses what is none. */
function typeOf(schema: z.core.$ZodType): string {
  const bare = bareSchema(schema) as z.ZodType;
  const own = bare.safeParse(Symbol()).error?.issues[0]?.message ?? '';
  const { shorthand } = notationOf(bare);
  const entry = entryOf(bare);
  const each = entry === undefined ? '' : `; each: ${typeOf(entry)}`;
  if (shorthand === undefined) return own + each;
  const alone = shorthand === true ? 'or one alone' : `or its ${shorthand} alone`;
  return `${own}, ${alone}${each}`;
}
