import { messageOf } from '@wins/base';
import { existsSync } from 'node:fs';
import { InstallError } from '../install-error.js';
import { contentOf, describeStep, isSameState, type Step } from '../item/step.js';
import { InstallFiles } from '../journal/install-files.js';
import { begunSteps, type JournalRecord } from '../journal/install-journal.js';
import { isNotEmpty, readItem, writeItem, type InstallContext } from '../install-context.js';

/** Time limit for the restarted daemon to answer after the user aborted. */
const AFTER_END_MS = 5_000;

/**
 * Undoes the steps in a journal, and resolves with the steps that it skipped. It skips a step if another program changed the
 * item. It also skips the removal of a folder if another program put files into the folder.
 * @throws InstallError `notUndone`; the journal stays, and the call may be repeated.
 */
export async function undoSteps(context: InstallContext, record: JournalRecord) {
  const files = new InstallFiles(context);
  const steps = begunSteps(record);
  // The last step may have been carried out only in part.
  const half = steps.length - 1;
  const left: Step[] = [];
  await stopAsJournalled(context, steps.slice(0, -1));
  for (let index = half; index >= 0; index -= 1) {
    const step = steps[index] as Step;
    const { item, from, to } = step;
    try {
      const now = await readItem(context.host, item);
      if (isSameState(now, from) && index !== half) continue;
      const isOurs = isSameState(now, to) || index === half || item.kind === 'running';
      const sha256 = contentOf(item, from);
      const content = sha256 && files.contentPath(sha256);
      // Skip items that another program changed. Also skip steps whose earlier content was not saved: they replaced nothing, because the item already
      // had the desired state.
      if (!isOurs || (content !== undefined && !existsSync(content))) {
        if (!isSameState(now, from)) left.push(step);
        continue;
      }
      await files.addToJournal({ undo: index });
      await writeItem(context, item, from, content);
    } catch (error) {
      if (item.kind !== 'folder' || !isNotEmpty(error))
        throw notUndone(`undo "${describeStep(step)}"`, error);
      left.push(step);
    }
  }
  await files.endJournal();
  return left;
}

/** Stops the daemon if a rolled-back upgrade or a reboot started it, because it must not run while files change. */
async function stopAsJournalled(context: InstallContext, steps: readonly Step[]): Promise<void> {
  const step = steps.findLast(({ item }) => item.kind === 'running');
  if (step === undefined || step.to !== undefined) return;
  if ((await readItem(context.host, step.item)) === undefined) return;
  try {
    await writeItem(context, step.item, undefined, undefined);
  } catch (error) {
    throw notUndone(describeStep(step), error);
  }
}

function notUndone(tried: string, cause: unknown): InstallError {
  return new InstallError('notUndone', `cannot ${tried}: ${messageOf(cause)}`, { cause });
}

/** Resolves with the problem of the restarted daemon, if any. */
export async function daemonAgain({ host, signal }: InstallContext, undone: readonly Step[]) {
  if (!undone.some(({ item, to }) => item.kind === 'running' && to === undefined)) return undefined;
  try {
    await host.answers({
      signal: signal?.aborted === true ? AbortSignal.timeout(AFTER_END_MS) : signal,
    });
    return undefined;
  } catch (error) {
    const { subject = 'the daemon' } = host;
    return `${subject} was restarted as before, but does not answer: ${messageOf(error)}`;
  }
}
