import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { targetOf, upgradePlaces, type UpgradePlaces } from '../journal/upgrade-places.js';
import { UpgradeError } from '../upgrade-error.js';
import type { ServiceControl, ServiceStatus } from './service-control.js';

/**
 * Finds the program of the service, links resolved, and what lies beside it.
 *
 * @param status - Of the service. Default: asked.
 * @throws UpgradeError `refused` when the service names no absolute path.
 */
export async function findPlaces(
  service: Pick<ServiceControl, 'defaultTarget' | 'query'>,
  status?: ServiceStatus,
): Promise<UpgradePlaces> {
  const found = status ?? (await service.query());
  const named = found === undefined ? service.defaultTarget : targetOf(found.command.imagePath);
  if (!path.isAbsolute(named)) {
    throw new UpgradeError('refused', `the service names ${named}; wanted an absolute path`);
  }
  return upgradePlaces(await realpath(named).catch(() => realFolderOf(named)));
}

/** The program itself may be absent. */
async function realFolderOf(file: string): Promise<string> {
  const folder = path.dirname(file);
  return path.join(await realpath(folder).catch(() => folder), path.basename(file));
}
