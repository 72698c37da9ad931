import { existsSync } from 'node:fs';
import { InstallError } from '../install-error.js';
import { stepOf, type Step } from '../item/step.js';
import { begunSteps, endOf, InstallJournal } from '../journal/install-journal.js';
import type { Recovered } from './finish-or-undo.js';
import type { InstallContext } from './install-context.js';

/** What the next run does before anything else. */
export interface PendingRecovery {
  readonly outcome: Recovered['outcome'];
  /** The steps that are recorded; or those that undo it, in their order. */
  readonly steps: readonly Step[];
}

/**
 * What `finishOrUndo` would do now. Changes nothing.
 *
 * @returns Undefined when no installation was interrupted.
 * @throws InstallError `refused`, `unreadable`.
 */
export async function pendingRecovery(
  context: InstallContext,
): Promise<PendingRecovery | undefined> {
  const { stateFolder } = context.places;
  if (!existsSync(stateFolder)) return undefined;
  const distrust = context.host.trust.distrustOfFolder(stateFolder);
  if (distrust !== undefined) {
    const found = `${distrust.path}: ${distrust.found}`;
    const message = `cannot trust ${stateFolder}: found ${found}; wanted a folder of ours`;
    throw new InstallError('refused', message);
  }
  const record = await new InstallJournal(context).read();
  if (record === undefined) return undefined;
  const outcome = endOf(record);
  if (outcome === 'finished') return { outcome, steps: record.steps };
  const open = begunSteps(record).toReversed();
  return { outcome, steps: open.map(({ item, from, to }) => stepOf(item, to, from)) };
}
