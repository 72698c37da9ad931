import { setTimeout as delay } from 'node:timers/promises';
import { InstallError } from '../install-error.js';
import type { NodeHost } from '../ports.js';

const LIMIT_MS = 2000;
const DELAY_MS = 100;

/**
 * Holds the lock of the node while a task runs. A daemon that has just started holds it for a moment: that is waited for.
 *
 * @param limitMs - How long. Default 2000.
 * @throws InstallError `busy`.
 */
export async function withInstallLock<T>(
  { lock }: Pick<NodeHost, 'lock'>,
  task: () => Promise<T>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const held = await lock();
    if (held !== undefined) {
      try {
        return await task();
      } finally {
        await held.close();
      }
    }
    if (performance.now() >= end) {
      const found = 'another installation or upgrade of it is under way';
      throw new InstallError('busy', `cannot change this node: ${found}`);
    }
    await delay(DELAY_MS);
  }
}
