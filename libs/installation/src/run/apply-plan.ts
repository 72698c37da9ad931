import { messageOf, quoteText, reporter } from '@wins/base';
import { InstallError } from '../install-error.js';
import type { Item } from '../item/item.js';
import { contentOf, describeStep, isSameState, type Step, stepOf } from '../item/step.js';
import { InstallFiles } from '../journal/install-files.js';
import { begunSteps, endOf } from '../journal/install-journal.js';
import { mergeSteps } from '../manifest/manifest.js';
import type { AdoptPlan, StepPlan } from '../plan/plan.js';
import { perform, keepItem, readItem, writeItem, type InstallContext } from '../install-context.js';
import { daemonAgain, undoSteps } from './undo-steps.js';

/** Result of {@link applyPlan}. After `rolledBack` the node is as before, except for the steps in `left`. */
export type ApplyOutcome =
  | { readonly outcome: 'installed' }
  /** `left`: the steps that could not be undone. */
  | {
      readonly outcome: 'rolledBack';
      readonly cause: InstallError;
      readonly left: readonly Step[];
    };

/**
 * Carries out a plan, verifies that the daemon serves, and records the installation. After a failure it undoes all
 * steps. The caller holds the lock of the node, and has called `finishOrUndo`.
 * @throws InstallError
 * - before the first step: `busy`, `unreadable` or `refused`. `refused` means that the manifest or its folder is untrusted, or
 *   that the new journal or manifest would be too large to be read back.
 * - later: `notUndone` if undoing fails; `stepFailed` if the finished installation cannot be recorded.
 */
export async function applyPlan(context: InstallContext, plan: StepPlan): Promise<ApplyOutcome> {
  const { steps, isProved } = plan;
  const files = new InstallFiles(context);
  files.requireReadable(steps, isProved, mergeSteps(await files.readManifest(), steps));
  await files.ensureFolder();
  if ((await files.readJournal()) !== undefined) {
    const found = 'an earlier installation was interrupted and must be finished first';
    throw new InstallError('busy', found);
  }
  try {
    await files.clearContents();
    const wanted = new Set(steps.map(({ item, to }) => contentOf(item, to)));
    for (const [sha256, content] of plan.contents)
      if (wanted.has(sha256)) await files.putContent(sha256, content);
    await files.beginJournal(steps, isProved);
    for (const [index, step] of steps.entries()) {
      context.signal?.throwIfAborted();
      await doStep(context, files, step, index);
      reporter(context.onStep)(step);
    }
    if (isProved) await prove(context);
    await files.addToJournal({ proven: true });
  } catch (error) {
    return await rollBack(context, files, asError(error, 'cannot install: '));
  }
  try {
    await commit(files, steps);
  } catch (error) {
    const message = `cannot record what was installed: ${messageOf(error)}; the next run records it`;
    throw new InstallError('stepFailed', message, { cause: error });
  }
  return { outcome: 'installed' };
}

export async function commit(files: InstallFiles, steps: readonly Step[]): Promise<void> {
  await files.writeManifest(mergeSteps(await files.readManifest(), steps));
  await files.endJournal();
}

/** Writes the manifest of an {@link AdoptPlan}; nothing else of the node changes. @throws InstallError `refused`. */
export async function adopt(
  context: InstallContext,
  { manifest }: Extract<AdoptPlan, { kind: 'adopt' }>,
): Promise<void> {
  const files = new InstallFiles(context);
  await files.ensureFolder();
  await files.writeManifest(manifest);
}

async function doStep(context: InstallContext, files: InstallFiles, step: Step, index: number) {
  const { item, from, to } = step;
  const { host } = context;
  try {
    const now = await readItem(host, item);
    if (!isSameState(now, to) && !isSameState(now, from) && item.kind !== 'running')
      throw new InstallError(
        'changed',
        `another program changed it meanwhile. Run the command again`,
      );
    const old = contentOf(item, from);
    if (old !== undefined && isSameState(now, from))
      await files.keepContent(old, (file) => keepItem(host, item, file));
    await files.addToJournal({ begin: index });
    if (isSameState(now, to)) return;
    const wasOpen =
      item.kind === 'folder' &&
      from !== undefined &&
      host.trust.distrustOfFolder(item.path)?.path === item.path;
    const sha256 = contentOf(item, to);
    const content = sha256 && files.contentPath(sha256);
    if (item.kind === 'program' && content !== undefined && sha256 !== undefined) {
      await perform(context, 'swap program', async () =>
        host.swap?.swap(item.path, content, sha256),
      );
    } else await writeItem(context, item, to, content);
    if (!isSameState(await readItem(host, item), to))
      throw new InstallError('stepFailed', 'the system reported success, but nothing changed');
    if (wasOpen) await requireNoStrangers(context, item);
  } catch (error) {
    const cause = asError(error);
    const message = `cannot ${describeStep(step)}: ${cause.message}`;
    throw new InstallError(cause.code, message, { cause: error });
  }
}

/** Throws if others own or can change a file in the folder. They may have added it before the step restricted access. */
async function requireNoStrangers({ host }: InstallContext, { path }: Item<'folder'>) {
  const [stranger] = await host.strangersIn(path);
  if (stranger === undefined) return;
  const found = `others own or can change ${quoteText(stranger)}`;
  throw new InstallError('changed', `${found}. Remove it, and run the command again`);
}

async function prove({ host, signal }: InstallContext): Promise<void> {
  const { subject = 'the daemon' } = host;
  try {
    await host.prove({ signal });
  } catch (error) {
    const message = `${subject} is not healthy: ${messageOf(error)}`;
    throw new InstallError('unproven', message, { cause: error });
  }
}

async function rollBack(context: InstallContext, files: InstallFiles, first: InstallError) {
  let cause = first;
  try {
    const record = await files.readJournal();
    const left = record === undefined ? [] : await undoSteps(context, record);
    if (record === undefined) await files.clearContents();
    const again = record && (await daemonAgain(context, begunSteps(record)));
    if (again !== undefined)
      cause = new InstallError(first.code, `${first.message}; then ${again}`, { cause: first });
    await files.removeFolder();
    return { outcome: 'rolledBack', cause, left } as const;
  } catch (error) {
    // Reports the first cause, even when undoing failed too.
    const message = `${cause.message}; then ${messageOf(error)}; the next run retries`;
    throw new InstallError('notUndone', message, { cause });
  }
}

function asError(error: unknown, tried = ''): InstallError {
  if (error instanceof InstallError) return error;
  return new InstallError('stepFailed', tried + messageOf(error), { cause: error });
}

/** Result of {@link finishOrUndo}. `left`: the steps that could not be undone. */
export type Recovered =
  | { readonly outcome: 'finished' }
  | {
      readonly outcome: 'undone';
      readonly left: readonly Step[];
      /** Fault of the restarted daemon; absent when it answers, or was not stopped. */
      readonly problem?: string | undefined;
    };

/** Steps by which {@link finishOrUndo} will finish or undo an interrupted installation. */
export interface PendingRecovery {
  readonly outcome: Recovered['outcome'];
  /** In the order in which they run. */
  readonly steps: readonly Step[];
}

/**
 * Finishes or undoes an interrupted installation; undefined when there is none. The caller holds the lock of the node,
 * and calls this before anything else.
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
  await perform(context, 'settle swap', async () => context.host.swap?.settle());
  const left = await undoSteps(context, record);
  await files.removeFolder();
  const problem = await daemonAgain(context, begunSteps(record));
  return { outcome: 'undone', left, ...(problem !== undefined && { problem }) };
}

/** Reports what `finishOrUndo` would do. @throws InstallError `refused`, `unreadable`. */
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
