import * as z from 'zod';

/**
 * Alternative notations of a part of the file; stored in the schema's metadata.
 *
 * `shorthand`: on an object, a single scalar stands for the object with only that key; on a list (`true`), a single scalar stands for a
 * list of one. `strictKeys`: an unknown or empty key is always an error, because ignoring it would widen what is allowed; on a list, a
 * missing value is an error. `asWritten`: the operator chooses the names; a scalar is always a text (`text`), or has the type that its form
 * suggests (`typed`). `isSecret`: problems do not repeat the values. `shown`: how much of a text support may see: all, the names of a
 * section, an address without its secrets, or the number of entries; nothing if absent. Numbers, booleans and keywords of a list are always shown.
 */
export interface Notation {
  readonly shorthand?: string | true;
  readonly strictKeys?: boolean;
  readonly asWritten?: 'text' | 'typed';
  readonly isSecret?: boolean;
  readonly shown?: 'all' | 'names' | 'address' | 'count';
}

/** Documentation of a key. */
export interface KeyNotes {
  readonly description?: string;
  /** The first release that supports the key. */
  readonly since?: string;
  /** Behaviour without the key, when no value of the file expresses it. */
  readonly absent?: string;
}

/** The first release of this program; earlier releases are those of the Go program. */
const FIRST = '1.0.0';

/** Adds the meaning and the notations of a key to its schema. `since` defaults to the first release of this program. */
export function about<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  { since = FIRST, ...notes }: Omit<KeyNotes, 'description'> & Notation = {},
): Schema {
  return schema.meta({ description, since, ...notes });
}

/** Returns the notation of a schema; empty when it has none. */
export function notationOf(schema: z.core.$ZodType): Notation {
  return (z.globalRegistry.get(schema) ?? {}) as Notation;
}

/** Returns the notes in a schema and in the schemas that it wraps; its own win. */
export function notesOf(schema: z.core.$ZodType): KeyNotes {
  const own = (z.globalRegistry.get(schema) ?? {}) as KeyNotes;
  const inner = isLayer(schema) ? notesOf(schema.unwrap()) : {};
  return { ...inner, ...own };
}

/** Unwraps a schema: removes layers that make it optional or add a default. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  let bare = schema;
  while (isLayer(bare)) bare = bare.unwrap();
  return bare;
}

function isLayer(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodDefault | z.ZodPrefault {
  return [z.ZodOptional, z.ZodDefault, z.ZodPrefault].some((layer) => schema instanceof layer);
}

/** Returns the keys of a section and their schemas, in order; undefined when the schema is not a section. */
export function fieldsOf(schema: z.core.$ZodType) {
  const bare = bareSchema(schema);
  if (!(bare instanceof z.ZodObject)) return undefined;
  return new Map<string, z.core.$ZodType>(Object.entries(bare.shape));
}

/** Returns the schema of a list's entries; undefined when the schema is not a list. */
export function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const bare = bareSchema(schema);
  return bare instanceof z.ZodArray ? bare.element : undefined;
}

/** Yields every key below a path, a section before its keys; `[]` stands for a list entry. */
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
