import { stepOf, type Step } from '../item/step.js';
import { InstallFiles } from '../journal/install-files.js';
import { begunSteps, endOf } from '../journal/install-journal.js';
import { commit } from './apply-plan.js';
import { act, type InstallContext } from './install-context.js';
import { daemonAgain, undoSteps } from './undo-steps.js';

export type Recovered =
  | { readonly outcome: 'finished' }
  | {
      readonly outcome: 'undone';
      readonly left: readonly Step[];
      /** Fault of the restarted daemon; absent when it answers, or was not stopped. */
      readonly problem?: string;
    };

/** Recovery that the next run carries out first. */
export interface PendingRecovery {
  readonly outcome: Recovered['outcome'];
  /** The steps to record; or the steps that undo the installation, in their order. */
  readonly steps: readonly Step[];
}

/**
 * Records an interrupted installation that passed its test, and undoes any other. The caller holds the lock of the
 * node, and calls this first.
 * @returns Undefined when no installation was interrupted.
 * @throws InstallError `refused`, `unreadable`, `notUndone`.
 */
export async function finishOrUndo(context: InstallContext): Promise<Recovered | undefined> {
  const files = new InstallFiles(context);
  if (!files.exists) return undefined;
  await files.ensureFolder();
  const record = await files.readJournal();
  if (record === undefined) {
    await files.clearContents();
    await files.removeFolder();
    return undefined;
  }
  if (endOf(record) === 'finished') {
    await commit(files, record.steps);
    return { outcome: 'finished' };
  }
  await act(context, 'settle swap', () => context.host.swap.settle());
  const left = await undoSteps(context, record);
  await files.removeFolder();
  const problem = await daemonAgain(context, begunSteps(record));
  return { outcome: 'undone', left, ...(problem !== undefined && { problem }) };
}

/** Reports what `finishOrUndo` would do, without changes. @throws InstallError `refused`, `unreadable`. */
export async function pendingRecovery(
  context: InstallContext,
): Promise<PendingRecovery | undefined> {
  const files = new InstallFiles(context);
  if (!files.exists) return undefined;
  files.requireTrustedFolder();
  const record = await files.readJournal();
  if (record === undefined) return undefined;
  const outcome = endOf(record);
  if (outcome === 'finished') return { outcome, steps: record.steps };
  const open = begunSteps(record).toReversed();
  return { outcome, steps: open.map(({ item, from, to }) => stepOf(item, to, from)) };
}
