import * as z from 'zod/mini';

/**
 * How a part of the file may be written and shown; stored in the schema's metadata.
 *
 * - `shorthand`: with a key `k`, a scalar `x` may replace the object `{k: x}`. With `true`, a scalar `x` may replace the list `[x]`.
 * - `strictKeys`: an unknown or empty key is always an error, because ignoring it would widen what is allowed. On a list,
 *   a missing value is an error too.
 * - `asWritten`: the structure and the keys are kept as the operator wrote them. With the value `text`, each scalar is read as
 *   text. With the value `typed`, numbers and booleans keep their type.
 * - `isSecret`: problems do not repeat the values.
 * - `shown`: the part of a text that support staff may see: all, the names in a section, an address without secrets, or the
 *   number of entries. Absent: nothing. Numbers, booleans and keywords are always shown.
 * - `onSystemDrive`: on Windows, a path without a drive is on the system drive.
 */
interface Notation {
  readonly shorthand?: string | true;
  readonly strictKeys?: boolean;
  readonly asWritten?: 'text' | 'typed';
  readonly isSecret?: boolean;
  readonly shown?: 'all' | 'names' | 'address' | 'count';
  readonly onSystemDrive?: boolean;
}

interface KeyNotes {
  readonly description?: string;
  /** First release with the key. */
  readonly since?: string;
  /** Behaviour without the key, if no default value expresses it. */
  readonly absent?: string;
  /** Name of a section's type, of `@wins/base` or of its own. Absent: the type is written where it is used. */
  readonly typeName?: string;
  /** Reason why no code outside of this library reads the key. */
  readonly unread?: string;
}

/** Notes on the schema of a key, besides its meaning. */
export type Notes = Omit<KeyNotes, 'description'> & Notation;

/** First release of this program. Earlier releases are those of the Go program. */
const FIRST = '1.0.0';

/** Adds meaning and notation to the schema of a key. A key that is newer than the first release of this program must have `since`. */
export function about<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  { since = FIRST, ...notes }: Notes = {},
): Schema {
  return noted(schema, { description, since, ...notes });
}

/**
 * Adds notes to this schema, unlike `meta` of zod, which adds them to a copy. To copy a schema takes as long as to make it.
 *
 * @throws Error if it has a note already, such as a schema of two keys.
 */
export function noted<Schema extends z.ZodMiniType>(
  schema: Schema,
  notes: KeyNotes & Notation,
): Schema {
  const before = z.globalRegistry.get(schema) ?? {};
  const [twice] = Object.keys(notes).filter((name) => name in before);
  if (twice !== undefined) throw new Error(`cannot note ${twice} of a schema: it has one`);
  z.globalRegistry.add(schema, { ...before, ...notes });
  return schema;
}

export function notationOf(schema: z.core.$ZodType): Notation {
  return (z.globalRegistry.get(schema) ?? {}) as Notation;
}

/** Includes the notes of wrapped schemas; outer notes win. */
export function notesOf(schema: z.core.$ZodType): KeyNotes {
  const own = (z.globalRegistry.get(schema) ?? {}) as KeyNotes;
  const inner = isLayer(schema) ? notesOf(schema._zod.def.innerType) : {};
  return { ...inner, ...own };
}

/** Removes layers that make a schema optional or add a default. A section uses `exactOptional`, so that its type excludes undefined. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  let bare = schema;
  while (isLayer(bare)) bare = bare._zod.def.innerType;
  return bare;
}

function isLayer(schema: z.core.$ZodType): schema is z.ZodMiniExactOptional | z.ZodMiniPrefault {
  // Every value of a file passes here several times, and `instanceof` of a zod class is slow.
  return ['optional', 'prefault'].includes(schema._zod.def.type);
}

export function fieldsOf(schema: z.core.$ZodType) {
  const bare = bareSchema(schema);
  if (!(bare instanceof z.ZodMiniObject)) return undefined;
  return new Map<string, z.core.$ZodType>(Object.entries(bare.shape));
}

export function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const bare = bareSchema(schema);
  return bare instanceof z.ZodMiniArray ? bare._zod.def.element : undefined;
}

/** Yields every key below a path, each section before its keys. List entries are written `[]`. */
export function* keysBelow(
  schema: z.core.$ZodType,
  path = '',
): Generator<readonly [path: string, schema: z.core.$ZodType]> {
  for (const [name, field] of fieldsOf(schema) ?? []) {
    const key = joinKey(path, name);
    yield [key, field];
    const entry = entryOf(field);
    yield* entry === undefined ? keysBelow(field, key) : keysBelow(entry, `${key}[]`);
  }
}

export function joinKey(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
