import * as z from 'zod/mini';
import { itemId, type StateOf } from '../item/item.js';
import { stepOf, STEPS_SCHEMA, type Step } from '../item/step.js';

/** Everything installed on a node, in order. The `from` of each entry is the state before the installation. */
export interface Manifest {
  readonly format: 1;
  /** True for an installation that another program made, and of which only the known items are recorded. */
  readonly isAdopted: boolean;
  readonly entries: readonly Step[];
}

export const MANIFEST_SCHEMA: z.ZodMiniType<Manifest> = z.strictObject({
  format: z.literal(1),
  isAdopted: z.boolean(),
  entries: STEPS_SCHEMA,
});

/** The manifest lists the program of a service as an ordinary file. */
function asFile(step: Step): Step {
  if (step.item.kind !== 'program') return step;
  const state = (found: StateOf | undefined): StateOf | undefined =>
    typeof found === 'object' && 'sha256' in found
      ? { sha256: found.sha256, access: 'executable' }
      : undefined;
  return stepOf({ kind: 'file', path: step.item.path }, state(step.from), state(step.to));
}

/** Adds steps to a manifest. Idempotent, because an item that is in its original state again keeps its entry. */
export function mergeSteps(manifest: Manifest | undefined, steps: readonly Step[]): Manifest {
  const entries = new Map<string, Step>();
  for (const entry of manifest?.entries ?? []) entries.set(itemId(entry.item), entry);
  // Starting a service is an action, not an item of the manifest.
  for (const step of steps.filter(({ item }) => item.kind !== 'running').map(asFile)) {
    const id = itemId(step.item);
    const before = entries.has(id) ? entries.get(id)?.from : step.from;
    entries.set(id, stepOf(step.item, before, step.to));
  }
  return {
    format: 1,
    isAdopted: manifest?.isAdopted ?? false,
    entries: [...entries.values()],
  };
}
