import { distrusted, readBytes, type FileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { upgraderIn, type UpgradePlaces } from '../journal/upgrade-places.js';
import { UpgradeError } from '../upgrade-error.js';
import { fileError } from './effects.js';
import type { ServiceControl } from './service-control.js';
import type { UpgradeContext } from './upgrade-context.js';

const NAME_LIMIT_BYTES = 256;
const LOCK_LIMIT_MS = 2000;
const LOCK_DELAY_MS = 100;

/**
 * Holds a lock while a task runs. A daemon that has just started holds it for a moment, so this waits.
 *
 * @param limitMs - How long. Default 2000.
 * @param tried - As the end of "cannot". Default: to upgrade the service.
 * @throws UpgradeError `busy`.
 */
export async function withLock<T>(
  service: Pick<ServiceControl, 'name' | 'lock'>,
  task: () => Promise<T>,
  limitMs = LOCK_LIMIT_MS,
  tried = 'upgrade the service',
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
      const found = 'another upgrade of it is running';
      throw new UpgradeError('busy', `cannot ${tried} ${service.name}: ${found}`);
    }
    await delay(LOCK_DELAY_MS);
  }
}

/**
 * Makes the folder for the state of an upgrade, for us and the system alone, or checks that it is such a folder.
 *
 * @throws UpgradeError `refused` when others can use it; `fileFailed`.
 */
export async function ensurePrivateFolder(
  { effects, host: { trust } }: Pick<UpgradeContext, 'effects' | 'host'>,
  folder: string,
): Promise<void> {
  const ensure = () => Promise.resolve(folder).then((path) => trust.ensurePrivateFolder(path));
  const tried = 'keep the state of an upgrade in';
  await effects.onFile('make folder', tried, folder, ensure, ['notTrusted']);
}

/**
 * Checks that only we and the system can put, change or remove files in a folder: others could decide what the service runs.
 *
 * @throws UpgradeError `refused`; `fileFailed`.
 */
export function requireTrustedFolder(
  { host: { trust } }: Pick<UpgradeContext, 'host'>,
  folder: string,
): void {
  const tried = 'replace a program in';
  try {
    const distrust = trust.distrustOfFolder(folder, { followLinks: true });
    if (distrust !== undefined) throw distrusted(tried, folder, distrust);
  } catch (error) {
    throw fileError(tried, folder, error, ['notTrusted']);
  }
}

/**
 * Enters the private folder, and names this process there as the one that upgrades, until it leaves: the daemon on trial must not take
 * it for what a dead daemon left. The caller holds the lock, and leaves before it gives the lock back.
 *
 * An upgrade does not fail for want of its name, which takes some bytes of a disk that may be full.
 *
 * @returns Leaves the folder.
 * @throws UpgradeError `refused` when others can use the folder; `fileFailed`.
 */
export async function enterPrivateFolder(
  context: Pick<UpgradeContext, 'effects' | 'host' | 'log'>,
  places: UpgradePlaces,
): Promise<AsyncDisposable> {
  const { effects, host, log } = context;
  await ensurePrivateFolder(context, places.folder);
  log.keepIn(places.log);
  const attempt = (failed: string, act: Promise<void>): Promise<void> =>
    act.catch((error: unknown) => log.write(failed, { found: messageOf(error) }));
  const upgrader = upgraderIn(places.folder);
  await attempt('this process is not named', effects.write(upgrader, host.self));
  return {
    [Symbol.asyncDispose]: () =>
      attempt('this process stays named', effects.remove('upgrader', upgrader)),
  };
}

/**
 * Reads which process upgrades, in the words of {@link UpgradeHost.self}. A name proves nothing by itself: compare it with a process
 * that runs, number and start.
 *
 * @param folder - Of {@link upgradeFolder}.
 * @returns Undefined when none is named, and when the name could be someone else's.
 */
export async function namedUpgrader(folder: string, trust: FileTrust): Promise<string | undefined> {
  const named = readBytes(upgraderIn(folder), { trust, maxBytes: NAME_LIMIT_BYTES });
  return named.then(
    (bytes) => bytes.toString('latin1'),
    () => undefined,
  );
}
