import type { AdoptPlan } from '../plan/plan.js';
import { writeManifest } from '../manifest/manifest-file.js';
import { ensureStateFolder } from './apply-plan.js';
import type { InstallContext } from './install-context.js';

/** Writes the manifest of an installation that is taken over. @throws InstallError `refused`. */
export async function adopt(
  context: InstallContext,
  { manifest }: Extract<AdoptPlan, { kind: 'adopt' }>,
): Promise<void> {
  await ensureStateFolder(context);
  await writeManifest(context, manifest);
}
