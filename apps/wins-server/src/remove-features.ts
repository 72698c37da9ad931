import { messageOf } from '@wins/base';
import { FEATURES } from './features/features.js';
import type { Feature, RemovedInstallation } from './kernel/feature.js';

/**
 * Removes what the features left on this host. A failure of one feature does not stop the others. Call this only after the daemon has stopped.
 *
 * @param hindrance - Why nothing can be removed, if so. Default: everything is removed.
 * @returns What stays, each with the reason. Never rejects.
 */
export async function removeFeatures(
  from: RemovedInstallation,
  hindrance?: string,
  features: readonly Pick<Feature, 'removal'>[] = FEATURES,
): Promise<readonly string[]> {
  const stays: string[] = [];
  for (const { removal } of features) {
    if (removal === undefined) continue;
    const reason = hindrance ?? (await removal.remove(from).catch(messageOf));
    if (reason !== undefined) stays.push(`${removal.what}: ${reason}`);
  }
  return stays;
}
