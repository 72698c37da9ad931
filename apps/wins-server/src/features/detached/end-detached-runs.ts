import { ConfigError } from '@wins/config';
import { distrusted } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { messageOf } from '@wins/base';
import { endKeepers, RunFolders } from '@wins/process-manager';
import { loadStoppedConfig } from '../../configuration/config-loader.js';
import { auditDirectoryOf, stateDirectoryOf } from '../../kept-directory.js';
import { AuditTrail } from '../../kernel/audit/audit-trail.js';
import { createLogger } from '../../kernel/log/logger.js';
import { thisSystem } from '../../this-system.js';
import { removeCopies } from './keeper-program.js';
import { transportOf } from './keepers-of-program.js';

export interface EndOptions {
  readonly reason: 'uninstalled' | 'unregistered';
  /** Whether the stored output stays until a daemon removes it. */
  readonly keepsOutput: boolean;
}

/**
 * Ends all detached runs and keepers of a config's daemon, and records this in its audit log. Call this only after the daemon has stopped.
 *
 * @returns Reason why some runs or keepers may still be alive; undefined when all have ended.
 */
export async function endDetachedRuns(
  configFile: string,
  { reason, keepsOutput }: EndOptions,
): Promise<string | undefined> {
  const config = await loadStoppedConfig(configFile).catch((error: unknown) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
  if (config instanceof ConfigError) return `its config cannot be read: ${messageOf(config)}`;
  const folders = new RunFolders(stateDirectoryOf(config.listen));
  if (!existsSync(folders.folder)) return undefined;
  const system = thisSystem();
  const trust = system.fileTrust();
  // In an unsafe folder, others could choose the processes to end, or redirect the removal through a link.
  const distrust = trust.distrustOfPrivateFolder(folders.folder);
  if (distrust !== undefined)
    return distrusted('read the records of runs in', folders.folder, distrust).message;
  const [runs, records] = [await folders.living(), await folders.keepers()];
  if (runs.length > 0 || records.length > 0) {
    const logger = await createLogger({ debug: false, quiet: true });
    const parts = system.daemonParts(logger);
    const { maxFileBytes, maxFiles } = config.audit;
    const options = {
      directory: auditDirectoryOf(config),
      maxFileBytes,
      maxFiles,
      prepareDirectory: (folder: string) => trust.ensurePrivateFolder(folder),
    };
    const audit = new AuditTrail(options, logger);
    await audit.open(() => undefined);
    const facts = runs.map(({ label, run: { mark, path } }) => ({ name: label, mark, path }));
    audit.note('detachedRunsEnded', { reason, runs: facts });
    const { processHost: host } = parts;
    const left = await endKeepers(records, { host, transport: transportOf(parts), folders });
    await audit.close();
    if (left > 0) return `${left} of their processes do not end, not even by force`;
  }
  if (keepsOutput) await removeCopies(folders.folder);
  // Retries, because the file of an ended program may stay open for a moment.
  else await rm(folders.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  return undefined;
}
