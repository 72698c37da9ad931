import * as z from 'zod/mini';
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
import { settingName } from '../parse/settings-of.js';
import type { WinsConfig, AllowedPath } from '../gen/wins-config.js';

/** Documentation of a key for operators. */
export interface ConfigKey {
  /** Canonical path; `[]` stands for a list entry: `white_list.processPaths[].sha256`. */
  readonly key: string;
  readonly meaning: string;
  /** Valid values, such as `a port number from 1 to 65535`. */
  readonly type: string;
  /** Undefined when there is none, or when `absent` describes the behaviour. */
  readonly default: unknown;
  /** Behaviour without the key, if no default value expresses it. */
  readonly absent: string | undefined;
  /** First release with the key. Releases before 1.0.0 belong to the original program in Go. */
  readonly since: string;
  /** Spellings of the last word of the path, canonical first. The daemon also accepts the others, ignoring ASCII case, but warns. */
  readonly spellings: readonly string[];
}

/** Returns all keys, sections before their keys. */
export function configKeys(platform: NodeJS.Platform = process.platform): readonly ConfigKey[] {
  return Array.from(keysBelow(FILE_SCHEMA), ([key, schema]) => keyOf(key, schema, platform));
}

/**
 * Finds the key whose path is `text`, in any accepted spelling. A section comes with all its keys. If no key has this path,
 * finds all keys whose path ends with `text`, such as `sha256`. If nothing matches, `nearest` is the most similar key, if one
 * is similar enough.
 */
export function findConfigKeys(
  text: string,
  platform?: NodeJS.Platform,
): { readonly keys: readonly ConfigKey[]; readonly nearest?: string | undefined } {
  const all = configKeys(platform);
  const wanted = folded(text);
  const within = all.filter(({ key }) => {
    const path = folded(key);
    return path === wanted || path.startsWith(`${wanted}.`);
  });
  if (within.length > 0) return { keys: within };
  const ending = all.filter(({ key }) => folded(key).endsWith(`.${wanted}`));
  if (ending.length > 0) return { keys: ending };
  const names = all.map(({ key }) => key);
  const nearest = nearestKey(text, names) ?? nearestKey(text, names.map(lastWordOf));
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
  const value = isSection ? undefined : z.safeParse(schema, undefined).data;
  return {
    key,
    meaning: description,
    type: typeOf(schema),
    default: key === 'upgrade.watchingPath' ? defaultWatchingPath(platform) : value,
    absent,
    since,
    spellings: spellingsOf(lastWordOf(key)),
  };
}

/** Describes valid values in the words of the schema's error message. */
function typeOf(schema: z.core.$ZodType): string {
  const bare = bareSchema(schema);
  const own = z.safeParse(bare, Symbol()).error?.issues[0]?.message ?? '';
  const { shorthand } = notationOf(bare);
  const entry = entryOf(bare);
  const each = entry === undefined ? '' : `; each: ${typeOf(entry)}`;
  if (shorthand === undefined) return own + each;
  const alone = shorthand === true ? 'or one alone' : `or its ${shorthand} alone`;
  return `${own}, ${alone}${each}`;
}

/** Returns the settings, keyed as in the file. Masks secrets as the schema declares. */
export function maskedSettings(
  config: WinsConfig,
  addressWithoutSecrets: (address: string) => string,
): Readonly<Record<string, unknown>> {
  return maskedValue(FILE_SCHEMA, config, addressWithoutSecrets) as Record<string, unknown>;
}

/** Masks secrets: a string becomes undefined unless its schema declares `shown`. */
export function maskedValue(
  schema: z.core.$ZodType,
  value: unknown,
  addressWithoutSecrets: (address: string) => string,
): unknown {
  if (value === undefined) return undefined;
  const bare = bareSchema(schema);
  switch (notationOf(bare).shown) {
    case 'all':
      return value;
    case 'address':
      return addressWithoutSecrets(value as string);
    case 'names':
      return Object.keys(value as object);
    case 'count':
      // Any other value is a keyword: none, any.
      return Array.isArray(value) ? `${value.length} entries` : value;
    case undefined:
  }
  const masked = (inner: z.core.$ZodType, of: unknown) =>
    maskedValue(inner, of, addressWithoutSecrets);
  const fields = fieldsOf(bare);
  if (fields !== undefined) {
    const settings = new Map(Object.entries(value as object));
    return Object.fromEntries(
      [...fields].map(([key, field]) => [key, masked(field, settings.get(settingName(key)))]),
    );
  }
  const entry = entryOf(bare);
  if (entry !== undefined)
    return Array.isArray(value) ? value.map((item) => masked(entry, item)) : undefined;
  const isHarmless = [z.ZodMiniBoolean, z.ZodMiniNumber, z.ZodMiniEnum].some(
    (type) => bare instanceof type,
  );
  return isHarmless ? value : undefined;
}

const HEAD = `# The entries of processPaths now grant everything that a run gets (docs/compatibility.md). This is the list of this config, with each
# granting key as it is in force. Replace the old list by it, and remove the grants that nobody needs.
#
# envs         Variables that clients may set (--envs): names, or prefixes such as KUBE_*. "any" is what earlier releases
#              allowed; variables that can load code into a program must still be listed by name.
# args         none, any, or the argument lists that clients may pass.
# directories  Folders that clients may choose (--dir), besides the program's own.
# for          Callers that may run it: administrators, user:UID, account:SID, container:ID, container:*. Absent: everybody.
# mayBreakAway For the upgrade helper only, because it outlives the daemon that it replaces.
`;
const ENVIRONMENT = `# Runs no longer inherit the variables of the daemon. List here the variables that every program needs besides PATH and the like.
`;

const ROUTES = `# "route add" and "route rm" accept only these networks, such as 10.42.0.0/16; earlier releases accepted any. Networks of the host itself
# and its gateway are always refused; cloud metadata (169.254.169.254) needs its own entry. An empty list refuses all (routeNotGranted).
`;

/** Returns, as YAML, the keys that an operator may have to add to a config of an earlier release. */
export function explainMigration({ whiteList, processEnvironment, routes }: WinsConfig): string {
  const entries = whiteList.processPaths.map(entryLines);
  const variables = Object.entries(processEnvironment).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}\n`,
  );
  const environment =
    variables.length === 0
      ? 'processEnvironment: {}\n'
      : `processEnvironment:\n${variables.join('')}`;
  const { processPaths: _entries, ...others } = whiteList;
  const paths = entries.length === 0 ? ' []\n' : `\n${entries.join('')}`;
  const list = `  processPaths:${paths}`;
  const granted = `routes:\n${linesOf(routes, '  ')}`;
  return `${HEAD}white_list:\n${list}${linesOf(others, '  ')}${ENVIRONMENT}${environment}${ROUTES}${granted}`;
}

// JSON is valid YAML, and untrusted text cannot break out of its quotes.
function linesOf(values: object, indent: string): string {
  return Object.entries(values)
    .map(([key, value]) => `${indent}${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

/** Needs `mayBreakAway` on Windows, because it replaces the daemon that runs it. */
const UPGRADE_HELPER = /[\\/]wins-upgrade\.exe$/i;

function entryLines({ path, sha256, envs, args = 'any', ...others }: AllowedPath): string {
  const helper = UPGRADE_HELPER.test(path) && { mayBreakAway: true };
  const keys = { ...(sha256.length > 0 && { sha256 }), envs, args, ...helper, ...others };
  return `    - path: ${JSON.stringify(path)}\n${linesOf(keys, '      ')}`;
}
