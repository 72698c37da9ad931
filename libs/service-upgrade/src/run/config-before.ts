import { openRegularFile, readWhole, replaceFile, TrustedFileError } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { hash } from 'node:crypto';
import type { ConfigBefore } from '../journal/upgrade-journal.js';
import type { UpgradePaths } from '../journal/upgrade-paths.js';
import { fileError } from '../effects.js';
import type { ServiceStatus } from '../service/service-control.js';
import type { UpgradeContext } from './upgrade-context.js';
import type { UpgradeRun } from './upgrade-steps.js';

const MAX_BYTES = 2 ** 21;

/** @throws UpgradeError `fileFailed`. */
export async function keepConfigBefore(
  { configServed, effects }: UpgradeContext,
  { configBefore }: UpgradePaths,
  status: ServiceStatus | undefined,
): Promise<ConfigBefore | undefined> {
  if (status === undefined || configServed === undefined) return undefined;
  const served = await configServed(status);
  if (served === undefined) return undefined;
  const { bytes, ...rest } = served;
  const keep = () => replaceFile(configBefore, bytes);
  await effects.onFile('keep config', 'save the config to', configBefore, keep);
  return { ...rest, sha256: digestOf(bytes) };
}

/**
 * Restores the config from before the upgrade. If the config file exists, first copies it to a file with the suffix
 * `.not-taken`. Returns a description of the change, or undefined if nothing was restored.
 * @throws UpgradeError `fileFailed`.
 */
export async function restoreConfigBefore({
  context: { effects, log },
  paths,
  record,
}: UpgradeRun): Promise<string | undefined> {
  const { configBefore: before } = record;
  if (before === undefined) return undefined;
  const { file, sha256 } = before;
  const kept = await read(paths.configBefore);
  if (kept === undefined || digestOf(kept.bytes) !== sha256) return undefined;
  const found = await read(file);
  if (found !== undefined && digestOf(found.bytes) === sha256) return undefined;
  const aside = `${file}.not-taken`;
  log.write('restoring the config', { file, aside });
  const put = (effect: string, action: () => Promise<void>): Promise<void> =>
    effects.onFile(effect, 'restore the config', file, action);
  if (found !== undefined)
    await put('keep new config', () => replaceFile(aside, found.bytes, found.rights));
  await put('restore config', () => replaceFile(file, kept.bytes, found?.rights));
  const rest = found === undefined ? '' : `; the replaced file is ${aside}`;
  return `the config ${file} was restored${rest}`;
}

export async function forgetReplacedConfigs({ context, record }: UpgradeRun): Promise<void> {
  const { effects, forgetReplaced, log } = context;
  const { configBefore } = record;
  if (configBefore === undefined || forgetReplaced === undefined) return;
  try {
    await effects.run('forget replaced configs', () => forgetReplaced(configBefore.file));
  } catch (error) {
    log.write('cannot remove replaced configs', { found: messageOf(error) });
  }
}

async function read(file: string) {
  try {
    const opened = await openRegularFile(file, { followLinks: true });
    try {
      const { uid, gid, mode } = opened.stats;
      const owner = process.geteuid?.() === 0 ? { uid, gid } : undefined;
      return {
        bytes: await readWhole(opened, { maxBytes: MAX_BYTES }),
        rights: { mode: mode & 0o755, owner },
      };
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw fileError('read the config', file, error);
  }
}

const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
