import { existsSync } from 'node:fs';
import type { Step } from '../item/step.js';
import { ContentStore } from '../journal/content-store.js';
import { begunSteps, endOf, InstallJournal } from '../journal/install-journal.js';
import { commit, ensureStateFolder } from './apply-plan.js';
import { act, type InstallContext } from './install-context.js';
import { daemonAgain } from './daemon-again.js';
import { removeStateFolder } from './state-folder.js';
import { undoSteps } from './undo-steps.js';

/** What became of an installation that was interrupted. */
export type Recovered =
  | { readonly outcome: 'finished' }
  | {
      readonly outcome: 'undone';
      readonly left: readonly Step[];
      /** What is wrong with the daemon that was started again; absent when it answers, or was not stopped. */
      readonly problem?: string;
    };

/**
 * Ends an installation that was interrupted: one that was proven is recorded, any other is undone. To be called with the lock of
 * the node, before anything else.
 *
 * @returns Undefined when none was.
 * @throws InstallError `refused`, `unreadable`, `notUndone`.
 */
export async function finishOrUndo(context: InstallContext): Promise<Recovered | undefined> {
  if (!existsSync(context.places.stateFolder)) return undefined;
  await ensureStateFolder(context);
  const record = await new InstallJournal(context).read();
  if (record === undefined) {
    await new ContentStore(context).clear();
    await removeStateFolder(context);
    return undefined;
  }
  if (endOf(record) === 'finished') {
    await commit(context, record.steps);
    return { outcome: 'finished' };
  }
  await act(context, 'settle swap', () => context.host.swap.settle());
  const left = await undoSteps(context, record);
  await removeStateFolder(context);
  const problem = await daemonAgain(context, begunSteps(record));
  return { outcome: 'undone', left, ...(problem !== undefined && { problem }) };
}
