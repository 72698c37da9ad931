import type * as z from 'zod';
import { SETTING_NAMES } from '../parse/to-wins-config.js';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import { bareSchema, entryOf, fieldsOf, notationOf, type Notation } from '../schema/notation.js';
import type { WinsConfig } from '../wins-config.js';

/** The settings of a config, by the keys of the file, as they may be shown to those who help: each as its key declares. Pure. */
export function maskedSettings(
  config: WinsConfig,
  addressWithoutSecrets: (address: string) => string,
): Readonly<Record<string, unknown>> {
  const names: Readonly<Record<string, string>> = SETTING_NAMES;
  const shown = (schema: z.core.$ZodType, value: unknown): unknown => {
    if (value === undefined) return undefined;
    const { isSecret, masked } = notationOf(bareSchema(schema));
    if (masked !== undefined) return maskedValue(masked, value, addressWithoutSecrets);
    if (isSecret === true) return undefined;
    const fields = fieldsOf(schema);
    if (fields !== undefined) return section(fields, value as object);
    const entry = entryOf(schema);
    return entry !== undefined && Array.isArray(value)
      ? value.map((item) => shown(entry, item))
      : value;
  };
  const section = (fields: ReadonlyMap<string, z.core.$ZodType>, values: object) => {
    const settings = new Map(Object.entries(values));
    return Object.fromEntries(
      [...fields].map(([key, field]) => [key, shown(field, settings.get(names[key] ?? key))]),
    );
  };
  return section(fieldsOf(FILE_SCHEMA) ?? new Map(), config);
}

function maskedValue(
  masked: NonNullable<Notation['masked']>,
  value: unknown,
  addressWithoutSecrets: (address: string) => string,
): unknown {
  if (masked === 'address') return addressWithoutSecrets(String(value));
  if (masked === 'names') return Object.keys(value as object);
  // A word that stands for a list: none, any.
  return Array.isArray(value) ? `${value.length} entries` : value;
}
