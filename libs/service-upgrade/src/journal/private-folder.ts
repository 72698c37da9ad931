import { messageOf } from '@wins/wins-program';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { remove, replaceText } from './durable-files.js';
import { upgraderIn, type UpgradePlaces } from './upgrade-places.js';
import { ensurePrivateFolder } from '../run/trusted-folders.js';
import type { UpgradeContext } from '../run/upgrade-context.js';

const LIMIT_BYTES = 256;

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
  await attempt('this process is not named', replaceText(effects, upgrader, host.self));
  return {
    [Symbol.asyncDispose]: () =>
      attempt('this process stays named', remove(effects, 'upgrader', upgrader)),
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
  const named = readBytes(upgraderIn(folder), { trust, maxBytes: LIMIT_BYTES });
  return named.then(
    (bytes) => bytes.toString('latin1'),
    () => undefined,
  );
}
