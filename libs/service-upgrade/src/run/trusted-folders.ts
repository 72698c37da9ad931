import { distrusted } from '@wins/trusted-files';
import { fileError } from '../journal/durable-files.js';
import type { UpgradeContext } from './upgrade-context.js';

/**
 * Makes the folder for the state of an upgrade, for us and the system alone, or checks that it is such a folder.
 *
 * @throws UpgradeError `refused` when others can use it; `fileFailed`.
 */
export async function ensurePrivateFolder(
  { effects, host: { trust } }: Pick<UpgradeContext, 'effects' | 'host'>,
  folder: string,
): Promise<void> {
  try {
    const ensure = () => Promise.resolve(folder).then((path) => trust.ensurePrivateFolder(path));
    await effects.run('make folder', ensure);
  } catch (error) {
    throw fileError('keep the state of an upgrade in', folder, error, ['notTrusted']);
  }
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
