import * as z from 'zod';

/**
 * How a part of the file may be written besides its full form; travels in the schema's metadata.
 *
 * `shorthand` on an object: a lone scalar stands for the object with only that key. On a list: `true`, a lone scalar stands for a list of one.
 * `strictKeys`: an unknown or empty key is always an error, because leaving it out would widen what is allowed; on a list: without a value it is
 * an error. `asWritten`: names are of the operator's choice; every scalar is text, or what it looks like. `isSecret`: problems do not repeat the
 * values. `shown`: how much of a text those who help may see: all, the names of a section, an address without its secrets, or the number of
 * entries; without it nothing. Numbers, booleans and words of a list are always shown.
 */
export interface Notation {
  readonly shorthand?: string | true;
  readonly strictKeys?: boolean;
  readonly asWritten?: 'text' | 'typed';
  readonly isSecret?: boolean;
  readonly shown?: 'all' | 'names' | 'address' | 'count';
}

/** Metadata of a key for people. */
export interface KeyNotes {
  readonly description?: string;
  /** The first release that knows the key. */
  readonly since?: string;
  /** Behaviour without the key, where it is no value of the file. */
  readonly absent?: string;
}

/** The first release of this program; earlier ones are the Go program's. */
const FIRST = '1.0.0';

/**
 * A schema that says what its key means, and how it may be written.
 *
 * @param since Default 1.0.0, the first release that is not the Go program.
 */
export function about<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  { since = FIRST, ...notes }: Omit<KeyNotes, 'description'> & Notation = {},
): Schema {
  return schema.meta({ description, since, ...notes });
}

/** The notation of a schema, empty when it has none. */
export function notationOf(schema: z.core.$ZodType): Notation {
  return (z.globalRegistry.get(schema) ?? {}) as Notation;
}

/** Returns the notes of a schema on its key: its own, else those of the schemas inside the layers around it. */
export function notesOf(schema: z.core.$ZodType): KeyNotes {
  const own = (z.globalRegistry.get(schema) ?? {}) as KeyNotes;
  const inner = isLayer(schema) ? notesOf(schema.unwrap()) : {};
  return { ...inner, ...own };
}

/** The schema itself, without the layers that make it optional or give it a default. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  let bare = schema;
  while (isLayer(bare)) bare = bare.unwrap();
  return bare;
}

function isLayer(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodDefault | z.ZodPrefault {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  );
}

/** The keys of a section and their schemas, in order; undefined when the schema is of something else. */
export function fieldsOf(
  schema: z.core.$ZodType,
): ReadonlyMap<string, z.core.$ZodType> | undefined {
  const bare = bareSchema(schema);
  if (!(bare instanceof z.ZodObject)) return undefined;
  return new Map(Object.entries(bare.shape));
}

/** The schema of a list's entries; undefined when the schema is of something else. */
export function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const bare = bareSchema(schema);
  return bare instanceof z.ZodArray ? bare.element : undefined;
}

/** Every key below a path, a section before its keys; `[]` stands for an entry of a list. */
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
