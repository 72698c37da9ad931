import * as z from 'zod';
import { someText } from './value-schemas.js';

/** The arguments of an entry. Everything in it is checked here as to form; what its paths mean is judged elsewhere. */
export function argumentRules() {
  // No transformation, for which the JSON Schema would lose the defaults around it.
  const word = z
    .union([z.string(), z.number(), z.boolean()], { error: 'a word' })
    .overwrite(String)
    .refine((text) => /^[^\0\p{Cs}]*$/u.test(String(text)), { error: 'a word without NUL' });
  const number = (name: string) => z.int({ error: `a whole number as "${name}"` });
  const wanted =
    'a word, {integer: {min, max}}, {port: true}, {pathUnder: FOLDER} or {oneOf: [WORDS]}';
  const form = z
    .strictObject(
      {
        integer: z
          .strictObject({ min: number('min'), max: number('max') }, { error: 'min and max' })
          .optional(),
        port: z.literal(true, { error: 'true' }).optional(),
        pathUnder: someText('a path').optional(),
        oneOf: z
          .array(word, { error: 'a list of words' })
          .min(1, { error: 'at least one word' })
          .optional(),
        after: word.describe('Text in front of it, such as --port=.').optional(),
      },
      { error: wanted },
    )
    .refine(({ after: _after, ...forms }) => Object.keys(forms).length === 1, { error: wanted });
  const pattern = z.union([word, form], { error: wanted });
  return z.union(
    [
      z.enum(['none', 'any']),
      z.array(z.array(pattern, { error: 'a list of arguments' }), {
        error: 'none, any, or a list of argument lists',
      }),
    ],
    { error: 'none, any, or a list of argument lists' },
  );
}
