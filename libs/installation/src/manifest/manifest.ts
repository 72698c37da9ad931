import * as z from 'zod';
import { itemId, type Item, type StateOf } from '../item/item.js';
import { isSameState, stepOf, STEPS_SCHEMA, type Step } from '../item/step.js';

/**
 * All that was installed on a node, in the order in which it was made: each thing as a step, from
 * what was there before it to what it left.
 */
export interface Manifest {
  readonly format: 1;
  /** Whether it was made for an installation that was there before. */
  readonly isAdopted: boolean;
  readonly entries: readonly Step[];
}

/** A manifest as it is written. */
export const MANIFEST_SCHEMA: z.ZodType<Manifest> = z.strictObject({
  format: z.literal(1),
  isAdopted: z.boolean(),
  entries: STEPS_SCHEMA,
});

/** True for items that the manifest records; a running service is an action and no item. */
function isRecorded({ kind }: Item): boolean {
  return kind !== 'running';
}

/** The program of a service is a file like others once it is installed. */
function asFile(step: Step): Step {
  if (step.item.kind !== 'program') return step;
  const state = (found: StateOf | undefined): StateOf | undefined =>
    typeof found === 'object' && 'sha256' in found
      ? { sha256: found.sha256, access: 'executable' }
      : undefined;
  return stepOf({ kind: 'file', path: step.item.path }, state(step.from), state(step.to));
}

/**
 * The manifest after these steps: for each thing what was there before all installations, and what is there now. A thing that is as
 * it was before is not in it. Taking the same steps twice changes nothing. Pure.
 */
export function mergeSteps(manifest: Manifest | undefined, steps: readonly Step[]): Manifest {
  const entries = new Map<string, Step>();
  for (const entry of manifest?.entries ?? []) entries.set(itemId(entry.item), entry);
  for (const step of steps.filter(({ item }) => isRecorded(item)).map(asFile)) {
    const id = itemId(step.item);
    const before = entries.has(id) ? entries.get(id)?.from : step.from;
    entries.set(id, stepOf(step.item, before, step.to));
  }
  return {
    format: 1,
    isAdopted: manifest?.isAdopted ?? false,
    entries: [...entries.values()].filter(({ from, to }) => !isSameState(from, to)),
  };
}
