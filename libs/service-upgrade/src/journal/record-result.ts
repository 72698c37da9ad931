import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '@wins/wins-program';
import { replaceText } from './durable-files.js';
import type { UpgradeContext } from '../run/upgrade-context.js';
import { RECORD_PREFIX, recordPath, type UpgradePlaces } from './upgrade-places.js';
import type { UpgradeResult } from './upgrade-result.js';

/**
 * Leaves a record of an upgrade that touched the service, which the next daemon, or the one that serves, takes into its audit log.
 * Unlike the result it is not replaced by what comes after it. The upgrade has happened: where it cannot be written, the log of
 * upgrades says so.
 */
export async function recordResult(
  { effects, log }: Pick<UpgradeContext, 'effects' | 'log'>,
  places: UpgradePlaces,
  result: UpgradeResult,
): Promise<void> {
  const file = recordPath(places, result.id, result.to?.sha256 ?? '');
  try {
    const text = `${JSON.stringify({ format: 1, at: new Date().toISOString(), ...result })}\n`;
    await replaceText(effects, file, text);
  } catch (error) {
    log.write('no record for the audit log', { found: messageOf(error) });
  }
}

/** The records that no daemon has taken yet. */
export async function untakenRecords({ folder }: UpgradePlaces): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.startsWith(RECORD_PREFIX))
    .map((name) => path.join(folder, name));
}
