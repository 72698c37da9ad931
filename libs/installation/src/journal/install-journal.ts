import * as z from 'zod/mini';
import { STEPS_SCHEMA, type Step } from '../item/step.js';

export const HEADER_SCHEMA = z.strictObject({
  format: z.literal(1),
  isProved: z.boolean(),
  steps: STEPS_SCHEMA,
});

const index = z.int().check(z.nonnegative());

/** A journal line: a step is about to begin or to be undone, or all steps are proven and can be committed. */
export const LINE_SCHEMA = z.union([
  z.strictObject({ begin: index }),
  z.strictObject({ undo: index }),
  z.strictObject({ proven: z.literal(true) }),
]);

export type JournalLine = z.infer<typeof LINE_SCHEMA>;

export interface JournalRecord {
  readonly steps: readonly Step[];
  readonly lines: readonly JournalLine[];
}

/** Steps that began, and are not undone yet. The last one may be incomplete. */
export function begunSteps({ steps, lines }: JournalRecord): readonly Step[] {
  const undone = lines.flatMap((line) => ('undo' in line ? [line.undo] : []));
  const begun = lines.flatMap((line) => ('begin' in line ? [line.begin] : []));
  return steps.slice(0, (undone.at(-1) ?? begun.at(-1) ?? -1) + 1);
}

/** `undone` also if an undoing follows the proof: the disk took the line of the proof, but reported an error. */
export function endOf({ lines }: JournalRecord): 'finished' | 'undone' {
  const last = lines.at(-1);
  return last !== undefined && 'proven' in last ? 'finished' : 'undone';
}
