import { distrusted, readBytes, type FileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import type { Abortable } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { upgraderIn, type UpgradePaths } from '../journal/upgrade-paths.js';
import { abortedBy, UpgradeError } from '../upgrade-error.js';
import { fileError } from '../effects.js';
import type { ServiceControl } from '../service/service-control.js';
import type { UpgradeContext } from './upgrade-context.js';

const NAME_LIMIT_BYTES = 256;
const LOCK_LIMIT_MS = 2000;
const LOCK_DELAY_MS = 100;

/**
 * Waits up to `timeoutMs` for the lock, which a newly started daemon holds briefly. Default: 2 s. `signal` ends only this wait.
 * `tried` is the operation for messages. @throws UpgradeError `busy`, `aborted`.
 */
export async function withLock<T>(
  service: Pick<ServiceControl, 'name' | 'lock'>,
  task: () => Promise<T>,
  {
    signal,
    timeoutMs = LOCK_LIMIT_MS,
    tried = 'upgrade the service',
  }: Abortable & {
    readonly timeoutMs?: number | undefined;
    readonly tried?: string | undefined;
  } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (signal?.aborted === true) throw abortedBy(signal, `${tried} ${service.name}`);
    const lock = await service.lock();
    if (lock !== undefined) {
      try {
        return await task();
      } finally {
        await lock[Symbol.asyncDispose]();
      }
    }
    if (performance.now() >= end) {
      const found = 'another upgrade of it is running';
      throw new UpgradeError('busy', `cannot ${tried} ${service.name}: ${found}`);
    }
    await delay(LOCK_DELAY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Creates the folder for administrators and this account alone, or checks an existing one.
 * @throws UpgradeError `refused` if other users can use the folder; `fileFailed`.
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
 * Throws unless only administrators and this account can replace files in the folder. Follows links.
 * @throws UpgradeError `refused` if other users can replace programs in the folder; `fileFailed`.
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
 * Creates or checks the private folder. Writes a file there that identifies this process, because the new daemon must not
 * end this process as a leftover. The caller holds the lock.
 * @throws UpgradeError `refused` when others can use the folder; `fileFailed`.
 */
export async function enterPrivateFolder(
  context: Pick<UpgradeContext, 'effects' | 'host' | 'log'>,
  paths: UpgradePaths,
): Promise<AsyncDisposable> {
  const { effects, host, log } = context;
  await ensurePrivateFolder(context, paths.folder);
  log.keepIn(paths.log);
  const attempt = (failed: string, action: Promise<void>): Promise<void> =>
    action.catch((error: unknown) => log.write(failed, { found: messageOf(error) }));
  const upgrader = upgraderIn(paths.folder);
  await attempt('cannot record this process as the upgrader', effects.write(upgrader, host.self));
  return {
    [Symbol.asyncDispose]: () =>
      attempt('cannot remove the record of this process', effects.remove('upgrader', upgrader)),
  };
}

/**
 * Returns the recorded upgrader as `PID:start`, like {@link UpgradeHost.self}. Returns undefined if the record cannot be
 * read, or if others could have written it. Compare the result with a running process, because the record alone proves nothing.
 */
export async function namedUpgrader(folder: string, trust: FileTrust): Promise<string | undefined> {
  const named = readBytes(upgraderIn(folder), { trust, maxBytes: NAME_LIMIT_BYTES });
  return named.then(
    (bytes) => bytes.toString('latin1'),
    () => undefined,
  );
}
