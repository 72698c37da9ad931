import * as z from 'zod';
import { itemId, type Item, type StateOf } from '../item/item.js';
import { isSameState, stepOf, STEPS_SCHEMA, type Step } from '../item/step.js';

/**
 * Everything installed on a node, in the order of creation: each item as a step from the state before the installation to the state that it
 * left.
 */
export interface Manifest {
  readonly format: 1;
  /** Whether the manifest was made by adopting an existing installation. */
  readonly isAdopted: boolean;
  readonly entries: readonly Step[];
}

/** Schema of a stored manifest. */
export const MANIFEST_SCHEMA: z.ZodType<Manifest> = z.strictObject({
  format: z.literal(1),
  isAdopted: z.boolean(),
  entries: STEPS_SCHEMA,
});

/** True for items that the manifest records. A running service is not one of them, because starting it is an action. */
function isRecorded({ kind }: Item): boolean {
  return kind !== 'running';
}

/** Converts a program step: once installed, the program of a service is an ordinary file. */
function asFile(step: Step): Step {
  if (step.item.kind !== 'program') return step;
  const state = (found: StateOf | undefined): StateOf | undefined =>
    typeof found === 'object' && 'sha256' in found
      ? { sha256: found.sha256, access: 'executable' }
      : undefined;
  return stepOf({ kind: 'file', path: step.item.path }, state(step.from), state(step.to));
}

/**
 * Merges steps into a manifest: each item gets its state before all installations and its present state. Items whose state is again the
 * original one are dropped. Merging the same steps twice changes nothing. Pure.
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
