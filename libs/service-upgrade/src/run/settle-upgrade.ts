import { existsSync } from 'node:fs';
import { findPlaces } from './find-places.js';
import { recoverInterrupted } from './recover-upgrade.js';
import { ensurePrivateFolder } from './trusted-folders.js';
import type { UpgradeContext } from './upgrade-context.js';

/**
 * Finishes or undoes an upgrade that was interrupted; nothing when none was. The caller holds the lock.
 *
 * @throws UpgradeError when that could not be done; the next one tries again.
 */
export async function settleUpgrade(context: UpgradeContext): Promise<void> {
  const places = await findPlaces(context.service);
  if (!existsSync(places.folder)) return;
  await ensurePrivateFolder(context, places.folder);
  await recoverInterrupted(context, places, { worker: 'helper' });
}
