import * as z from 'zod';
import { SETTING_NAMES } from '../parse/to-wins-config.js';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import { bareSchema, entryOf, fieldsOf, notationOf } from '../schema/notation.js';
import type { WinsConfig } from '../wins-config.js';

/**
 * The settings of a config, by the keys of the file, as they may be shown to those who help: a text only as far as its key declares. Pure.
 */
export function maskedSettings(
  config: WinsConfig,
  addressWithoutSecrets: (address: string) => string,
): Readonly<Record<string, unknown>> {
  return maskedValue(FILE_SCHEMA, config, addressWithoutSecrets) as Record<string, unknown>;
}

/** The part of a value that may be shown: undefined for a text whose schema does not say so. */
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
      // A word that stands for a list: none, any.
      return Array.isArray(value) ? `${value.length} entries` : value;
    case undefined:
  }
  const masked = (inner: z.core.$ZodType, of: unknown) =>
    maskedValue(inner, of, addressWithoutSecrets);
  const fields = fieldsOf(bare);
  if (fields !== undefined) {
    const names: Readonly<Record<string, string>> = SETTING_NAMES;
    const settings = new Map(Object.entries(value as object));
    return Object.fromEntries(
      [...fields].map(([key, field]) => [key, masked(field, settings.get(names[key] ?? key))]),
    );
  }
  const entry = entryOf(bare);
  if (entry !== undefined)
    return Array.isArray(value) ? value.map((item) => masked(entry, item)) : undefined;
  const isHarmless = [z.ZodBoolean, z.ZodNumber, z.ZodEnum].some((type) => bare instanceof type);
  return isHarmless ? value : undefined;
}
