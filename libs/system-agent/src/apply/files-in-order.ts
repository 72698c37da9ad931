import type { PendingPlanFile } from '../ports.js';

/** Maximum number of steps prepared ahead; also the number of concurrent system calls. */
const FILES_AHEAD = 4;

export interface FileStep {
  readonly run: () => Promise<void>;
  readonly ahead?: FileAhead | undefined;
}

export interface FileAhead {
  /** Steps may be prepared only while steps with the same owner run, because those do not affect what is prepared. */
  readonly owner: string;
  /** Prepares the file, to be placed instead of running the step; undefined when the step must run. Never rejects. */
  readonly begin: () => Promise<PendingPlanFile | undefined>;
}

/**
 * Runs steps with the visible effect of one after another; none runs after a failure. Removes prepared files of steps
 * that do not run.
 * @throws the failure of the first step; the reason of the signal.
 */
export async function filesInOrder(steps: readonly FileStep[], signal: AbortSignal): Promise<void> {
  const ends: Promise<void>[] = [];
  let last = Promise.resolve();
  try {
    for (const [index, step] of steps.entries()) {
      const owner = step.ahead?.owner;
      const isAhead = owner !== undefined && owner === steps[index - 1]?.ahead?.owner;
      await (isAhead ? ends[index - FILES_AHEAD] : last);
      last = inTurn(step, last, signal);
      // The next step and the end of this function observe the rejection, perhaps later.
      last.catch(() => undefined);
      ends.push(last);
    }
  } finally {
    // Each step rejects with the failure of its predecessor.
    await last;
  }
}

async function inTurn({ run, ahead }: FileStep, before: Promise<void>, signal: AbortSignal) {
  const pending = signal.aborted ? undefined : await ahead?.begin();
  try {
    await before;
    signal.throwIfAborted();
  } catch (error) {
    await pending?.discard();
    throw error;
  }
  await (pending === undefined ? run() : pending.place());
}
