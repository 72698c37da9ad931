import { quoteText } from '@wins/wins-program';
import { InstallError } from '../install-error.js';
import { journalHeader } from '../journal/install-journal.js';
import { mergeSteps } from '../manifest/manifest.js';
import { manifestText, readManifest } from '../manifest/manifest-file.js';
import type { StepPlan } from '../plan/plan.js';
import type { InstallContext } from './install-context.js';

/** What is too much for journal or manifest is known before the first act. @throws InstallError `refused`. */
export async function requireReadable(context: InstallContext, plan: StepPlan): Promise<void> {
  journalHeader(plan.steps, plan.isProved);
  manifestText(mergeSteps(await readManifest(context), plan.steps));
}

/** Whether others can change what is in a folder. */
export function isOpen({ host }: InstallContext, folder: string): boolean {
  return host.trust.distrustOfFolder(folder)?.path === folder;
}

/**
 * Until the list of a folder was another, others may have put something into it, since it was looked at.
 *
 * @throws InstallError `changed`.
 */
export async function requireNoStrangers({ host }: InstallContext, folder: string): Promise<void> {
  const [stranger] = await host.strangersIn(folder);
  if (stranger === undefined) return;
  const found = `found that others made or can change ${quoteText(stranger)}`;
  throw new InstallError('changed', `${found}; remove it, and run it again`);
}
