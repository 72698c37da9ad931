import type { PendingPlanFile } from '../ports.js';

/** So many are begun at most while the first of them has its turn. As many of the system's calls run at once. */
const FILES_AHEAD = 4;

/** An act on a file in its turn, and the part of it that does not have to wait for the turn. */
export interface FileStep {
  readonly run: () => Promise<void>;
  readonly ahead?: FileAhead | undefined;
}

export interface FileAhead {
  /** Only while steps with the same owner have theirs: what those do changes nothing of what is found. */
  readonly owner: string;
  /** Makes the file that is placed instead of running the step; undefined where the step must run. It never rejects. */
  readonly begin: () => Promise<PendingPlanFile | undefined>;
}

/**
 * Does steps, one after another as far as anyone can see: each waits for the one before it, and after a failure none has its turn.
 * What was begun ahead is removed by then.
 *
 * @throws what the first step that fails throws; the reason of the signal.
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
      // The next one, and the end of this function, hear of it: perhaps later.
      last.catch(() => undefined);
      ends.push(last);
    }
  } finally {
    // Each rejects as the one before it, and once nothing is left of it.
    await last;
  }
}

async function inTurn(
  { run, ahead }: FileStep,
  before: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
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
