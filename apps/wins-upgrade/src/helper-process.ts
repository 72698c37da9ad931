import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  findPlaces,
  helpersIn,
  removeLeftovers,
  withLock,
  writeResult,
  type UpgradeContext,
} from '@wins/service-upgrade';
import { messageOf } from '@wins/wins-program';

const SWEEP_LIMIT_MS = 30_000;
const SWEEP_DELAY_MS = 50;

/**
 * Does what a helper that left its run was started for. There is a result of this name also when the lock is not to be had: the client
 * that asked waits for one.
 */
export async function withLockOfHelper<T>(
  context: UpgradeContext,
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await withLock(context.service, task, context.waitMs);
  } catch (error) {
    const places = await findPlaces(context.service);
    const { target, log } = places;
    const found = { id: context.id, outcome: 'refused', reason: messageOf(error) } as const;
    await writeResult(context.effects, places, { ...found, target, log });
    throw error;
  }
}

/**
 * The helper removes itself. A program that cannot be removed while it runs is removed by the new release, which is known to be able
 * to; after another end the next upgrade does.
 *
 * @param upgraded - The program of the service, if it is the new release now.
 */
export async function removeHelper(
  { host, ownFile }: UpgradeContext,
  service: string | undefined,
  upgraded: string | undefined,
): Promise<void> {
  try {
    await rm(ownFile, { force: true });
  } catch {
    if (upgraded === undefined) return;
    const words = ['up', '--sweep', ...(service === undefined ? [] : [`--service=${service}`])];
    await host.startApart(upgraded, words).catch(() => undefined);
  }
}

/** Removes what helpers left, as soon as they have ended. */
export async function sweepHelpers(context: UpgradeContext): Promise<void> {
  const places = await findPlaces(context.service);
  const end = performance.now() + SWEEP_LIMIT_MS;
  while ((await helpersIn(places)).length > 0 && performance.now() < end) {
    await withLock(context.service, () => removeLeftovers({ context, places }));
    await delay(SWEEP_DELAY_MS);
  }
}
