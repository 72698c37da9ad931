import * as z from 'zod';
import { STEPS_SCHEMA, type Step } from '../item/step.js';

/** First line of a journal: all steps of the installation in progress. */
export const HEADER_SCHEMA = z.strictObject({
  format: z.literal(1),
  isProved: z.boolean(),
  steps: STEPS_SCHEMA,
});

const index = z.number().int().nonnegative();

/** A line that is written before an action: a step begins, a step is undone, or all steps are committed. */
export const LINE_SCHEMA = z.union([
  z.strictObject({ begin: index }),
  z.strictObject({ undo: index }),
  z.strictObject({ proven: z.literal(true) }),
]);

export type JournalLine = z.infer<typeof LINE_SCHEMA>;

/** An installation as recorded in its journal. */
export interface JournalRecord {
  readonly steps: readonly Step[];
  readonly lines: readonly JournalLine[];
}

/** Returns the steps that may have been carried out, in part or whole, and are not undone yet. Pure. */
export function begunSteps({ steps, lines }: JournalRecord): readonly Step[] {
  const undone = lines.flatMap((line) => ('undo' in line ? [line.undo] : []));
  const begun = lines.flatMap((line) => ('begin' in line ? [line.begin] : []));
  return steps.slice(0, (undone.at(-1) ?? begun.at(-1) ?? -1) + 1);
}

/** Decides how an interrupted installation ends. Pure. */
export function endOf({ lines }: JournalRecord): 'finished' | 'undone' {
  return lines.some((line) => 'proven' in line) ? 'finished' : 'undone';
}
