import { TrustedFileError } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { InstallError } from '../install-error.js';
import type { StateOf } from '../item/item.js';
import { isSameState } from '../item/same-state.js';
import { contentOf, describeStep, type Step } from '../item/step.js';
import { ContentStore } from '../journal/content-store.js';
import { begunSteps, InstallJournal } from '../journal/install-journal.js';
import { mergeSteps } from '../manifest/manifest.js';
import { readManifest, writeManifest } from '../manifest/manifest-file.js';
import type { StepPlan } from '../plan/plan.js';
import { act, keepItem, readItem, writeItem, type InstallContext } from './install-context.js';
import { daemonAgain } from './daemon-again.js';
import { isOpen, requireNoStrangers, requireReadable } from './require-before.js';
import { removeStateFolder } from './state-folder.js';
import { undoSteps } from './undo-steps.js';

/** How an installation ended. */
export type ApplyOutcome =
  | { readonly outcome: 'installed' }
  /** It failed, and the node is as it was before, but for `left`. */
  | {
      readonly outcome: 'rolledBack';
      readonly cause: InstallError;
      readonly left: readonly Step[];
    };

/**
 * Does the steps of a plan, proves that the daemon serves, and records what was installed; or undoes all of it.
 *
 * The lock of the node must be held, and no journal may be there: `finishOrUndo` ends what an earlier run left.
 *
 * @throws InstallError `refused` when the folder for journal and manifest cannot be trusted, or they could not be read again, and nothing
 *   was touched; `notUndone`.
 */
export async function applyPlan(context: InstallContext, plan: StepPlan): Promise<ApplyOutcome> {
  const journal = new InstallJournal(context);
  await requireReadable(context, plan);
  await ensureStateFolder(context);
  if ((await journal.read()) !== undefined) {
    throw new InstallError(
      'busy',
      'an earlier installation was interrupted; wanted it ended first',
    );
  }
  const contents = new ContentStore(context);
  try {
    await contents.clear();
    for (const [sha256, content] of wantedContents(plan)) await contents.put(sha256, content);
    await journal.begin(plan.steps, plan.isProved);
    for (const index of plan.steps.keys()) {
      context.signal?.throwIfAborted();
      await doStep(context, plan.steps[index] as Step, () => journal.add({ begin: index }));
    }
    if (plan.isProved) await prove(context);
    await journal.add({ proven: true });
  } catch (error) {
    const cause =
      error instanceof InstallError
        ? error
        : new InstallError('stepFailed', `cannot install: ${messageOf(error)}`, { cause: error });
    const { left, undone } = await undoOrTell(cause, () => undo(context));
    const again = await daemonAgain(context, undone);
    const told =
      again === undefined
        ? cause
        : new InstallError(cause.code, `${cause.message}; then ${again}`, { cause });
    await undoOrTell(told, () => removeStateFolder(context));
    return { outcome: 'rolledBack', cause: told, left };
  }
  await recordOrTell(context, plan.steps);
  return { outcome: 'installed' };
}

/** Records what was installed and ends the journal. May be repeated. */
export async function commit(context: InstallContext, steps: readonly Step[]): Promise<void> {
  await writeManifest(context, mergeSteps(await readManifest(context), steps));
  await new ContentStore(context).clear();
  await new InstallJournal(context).end();
}

/** Makes the folder for journal and manifest, for administrators alone. @throws InstallError `refused`. */
export async function ensureStateFolder(context: InstallContext): Promise<void> {
  const { stateFolder } = context.places;
  try {
    await act(context, 'make state folder', () =>
      Promise.resolve(stateFolder).then((folder) => context.host.trust.ensurePrivateFolder(folder)),
    );
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    throw new InstallError('refused', error.message, { cause: error });
  }
}

async function doStep(
  context: InstallContext,
  step: Step,
  begin: () => Promise<void>,
): Promise<void> {
  const { item, from, to } = step;
  const contents = new ContentStore(context);
  try {
    const now = await readItem(context.host, item);
    if (!isSameState(now, to) && !isSameState(now, from) && item.kind !== 'running') {
      throw new InstallError('changed', `something else changed it meanwhile; run it again`);
    }
    const old = contentOf(item, from);
    if (old !== undefined && isSameState(now, from)) {
      await contents.keep(old, (file) => keepItem(context.host, item, file));
    }
    await begin();
    if (isSameState(now, to)) return;
    const wasOpen = item.kind === 'folder' && from !== undefined && isOpen(context, item.path);
    await write(context, item, to, contents);
    if (!isSameState(await readItem(context.host, item), to)) {
      throw new InstallError('stepFailed', 'the system says that it did it, and did not');
    }
    if (wasOpen) await requireNoStrangers(context, item.path);
  } catch (error) {
    const code = error instanceof InstallError ? error.code : 'stepFailed';
    const message = `cannot ${describeStep(step)}: ${messageOf(error)}`;
    throw new InstallError(code, message, { cause: error });
  }
}

async function write(
  context: InstallContext,
  item: Step['item'],
  to: StateOf | undefined,
  contents: ContentStore,
): Promise<void> {
  const sha256 = contentOf(item, to);
  const content = sha256 === undefined ? undefined : contents.pathOf(sha256);
  if (item.kind !== 'program' || content === undefined || sha256 === undefined) {
    return writeItem(context, item, to, content);
  }
  await act(context, 'swap program', () => context.host.swap.swap(item.path, content, sha256));
}

async function prove(context: InstallContext): Promise<void> {
  try {
    await context.host.prove(context.signal);
  } catch (error) {
    const message = `the daemon does not serve as it should: ${messageOf(error)}`;
    throw new InstallError('unproven', message, { cause: error });
  }
}

async function recordOrTell(context: InstallContext, steps: readonly Step[]): Promise<void> {
  try {
    await commit(context, steps);
  } catch (error) {
    const message = `cannot record what was installed: ${messageOf(error)}; the next run does`;
    throw new InstallError('stepFailed', message, { cause: error });
  }
}

/** Undoes what the journal tells, or what came before there was one. */
async function undo(
  context: InstallContext,
): Promise<{ readonly left: readonly Step[]; readonly undone: readonly Step[] }> {
  const record = await new InstallJournal(context).read();
  if (record !== undefined)
    return { left: await undoSteps(context, record), undone: begunSteps(record) };
  await new ContentStore(context).clear();
  return { left: [], undone: [] };
}

/** The first cause is told, also when undoing failed too. */
async function undoOrTell<T>(cause: InstallError, undo: () => Promise<T>): Promise<T> {
  try {
    return await undo();
  } catch (error) {
    const message = `${cause.message}; then ${messageOf(error)}; the next run tries again`;
    throw new InstallError('notUndone', message, { cause });
  }
}

/** What the new states stand for; a certificate that is removed is no one's content any more. */
function wantedContents({
  steps,
  contents,
}: StepPlan): [string, NonNullable<ReturnType<typeof contents.get>>][] {
  const digests = new Set(steps.map(({ item, to }) => contentOf(item, to)));
  return [...contents].filter(([sha256]) => digests.has(sha256));
}
