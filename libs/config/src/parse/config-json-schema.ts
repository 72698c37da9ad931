import * as z from 'zod/mini';
import { FILE_SCHEMA } from '../schema/file-schema.js';
import { notationOf, notesOf } from '../schema/notation.js';

/** Our metadata, which strict JSON Schema validators would report as unknown. */
const OUR_WORDS =
  'shorthand strictKeys asWritten isSecret shown onSystemDrive since absent typeName unread'.split(
    ' ',
  );

/**
 * Returns a new JSON Schema (draft 2020-12) of the config file, for editors. It accepts only the canonical spelling, so an editor
 * marks legacy and unknown keys. The daemon merely warns about them.
 */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(FILE_SCHEMA, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { shorthand } = notationOf(zodSchema);
      const { description: meaning, since } = notesOf(zodSchema);
      for (const key of OUR_WORDS) Reflect.deleteProperty(jsonSchema, key);
      if (since !== undefined) jsonSchema.description = `${meaning} Since ${since}.`;
      if (shorthand === undefined) return;

      const { description, ...full } = jsonSchema;
      const scalar = shorthand === true ? full.items : full.properties?.[shorthand];
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.anyOf = [scalar as typeof full, full];
      if (description !== undefined) jsonSchema.description = description;
    },
  });
  return { ...schema, title: 'wins configuration' };
}
