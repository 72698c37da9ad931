import { messageOf } from '@wins/base';
import { existsSync } from 'node:fs';
import { InstallError } from '../install-error.js';
import { contentOf, describeStep, isSameState, type Step } from '../item/step.js';
import { InstallFiles } from '../journal/install-files.js';
import { begunSteps, type JournalRecord } from '../journal/install-journal.js';
import { isNotEmpty, readItem, writeItem, type InstallContext } from './install-context.js';

/** How long to wait for the daemon after the user aborted. */
const AFTER_END_MS = 5_000;

/**
 * Makes all things as they were found by the steps that had begun, the last one first, and ends the journal. What something else has
 * changed since stays.
 *
 * @returns The steps whose things stay.
 * @throws InstallError `notUndone`; the journal stays, and it may be called again.
 */
export async function undoSteps(
  context: InstallContext,
  record: JournalRecord,
): Promise<readonly Step[]> {
  const files = new InstallFiles(context);
  const steps = begunSteps(record);
  // The act behind the last line may have been done in part.
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
      // Without the old content the step had found it as it was wanted, and changed nothing.
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

/**
 * Between a stop and a start the daemon may have been started by others: by an upgrade of its program that was rolled back, or by the
 * system after a loss of power. It must not see how files change.
 */
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

/**
 * Waits for the daemon that was stopped by steps which were undone, so that it serves when the user reads the message.
 *
 * @returns What is wrong with it; undefined when it answers, or was not stopped.
 */
export async function daemonAgain(
  { host, signal }: InstallContext,
  undone: readonly Step[],
): Promise<string | undefined> {
  if (!undone.some(({ item, to }) => item.kind === 'running' && to === undefined)) return undefined;
  try {
    await host.answers(signal?.aborted === true ? AbortSignal.timeout(AFTER_END_MS) : signal);
    return undefined;
  } catch (error) {
    return `the previous daemon was restarted, but does not answer: ${messageOf(error)}`;
  }
}
