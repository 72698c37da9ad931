import { setTimeout as delay } from 'node:timers/promises';
import { UpgradeError } from '../upgrade-error.js';
import type { ServiceControl } from './service-control.js';

const LIMIT_MS = 2000;
const DELAY_MS = 100;

/**
 * Holds the lock of the service while a task runs. A daemon that has just started holds it for a moment: that is waited for.
 *
 * @param limitMs - How long. Default 2000.
 * @throws UpgradeError `busy`.
 */
export async function withLock<T>(
  service: Pick<ServiceControl, 'name' | 'lock'>,
  task: () => Promise<T>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const lock = await service.lock();
    if (lock !== undefined) {
      try {
        return await task();
      } finally {
        await lock.close();
      }
    }
    if (performance.now() >= end) {
      const found = 'another upgrade of it is under way';
      throw new UpgradeError('busy', `cannot upgrade the service ${service.name}: ${found}`);
    }
    await delay(DELAY_MS);
  }
}
