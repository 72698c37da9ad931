import { ConfigError, defaultConfigPath } from '@wins/config';
import { distrusted } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { messageOf } from '@wins/base';
import { loadStartConfig } from '../../configuration/start-config.js';
import { auditDirectoryOf } from '../../kernel/audit/audit-directory.js';
import { AuditTrail } from '../../kernel/audit/audit-trail.js';
import { createLogger } from '../../kernel/log/logger.js';
import { stateDirectoryOf } from '../../state-directory.js';
import { thisSystem } from '../../this-system.js';
import { endKeepers } from './keeper/end-keepers.js';
import { removeCopies } from './keeper/keeper-program.js';
import { readKeeperRecords } from './keeper/keeper-records.js';
import { RunFolders } from './run-folders.js';

/** Why runs that last are ended without their daemon. */
export interface EndOptions {
  readonly reason: 'uninstalled' | 'unregistered';
  /** Whether what is kept of runs stays, until a daemon forgets it. */
  readonly keepsOutput: boolean;
}

/**
 * Ends all runs that last of the daemon of a config, which has stopped, and their keepers; the audit log of that daemon says so.
 *
 * @returns Why some live on; undefined when none does.
 */
export async function endLastingRuns(
  configFile: string,
  { reason, keepsOutput }: EndOptions,
): Promise<string | undefined> {
  // That of the system may be absent, and one that an interrupted uninstallation has removed ended them before.
  const isAbsent = configFile === defaultConfigPath() || !existsSync(configFile);
  const named = isAbsent ? undefined : configFile;
  const loaded = await loadStartConfig(named).catch((error: unknown) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
  if (loaded instanceof ConfigError) return `its config cannot be read: ${messageOf(loaded)}`;
  const { config } = loaded.loaded;
  const folders = new RunFolders(stateDirectoryOf(config.listen));
  if (!existsSync(folders.folder)) return undefined;
  const system = await thisSystem();
  const trust = system.fileTrust();
  // Others could have written which processes are to be ended, or put a link where a folder is removed.
  const distrust = trust.distrustOfPrivateFolder(folders.folder);
  if (distrust !== undefined)
    return distrusted('read what is kept of runs in', folders.folder, distrust).message;
  const [runs, records] = [await folders.living(), await readKeeperRecords(folders.folder)];
  if (runs.length > 0 || records.length > 0) {
    const logger = await createLogger({ debug: false, quiet: true });
    const { processHost: host, processesApart: apart } = system.daemonParts(logger);
    const { maxFileBytes, maxFiles } = config.audit;
    const options = {
      ...{ directory: auditDirectoryOf(config), maxFileBytes, maxFiles },
      prepareDirectory: (folder: string) => trust.ensurePrivateFolder(folder),
    };
    const audit = new AuditTrail(options, logger);
    await audit.open(() => undefined);
    const facts = runs.map(({ label, run: { mark, path } }) => ({ name: label, mark, path }));
    audit.note('lastingRunsEnded', { reason, runs: facts });
    const left = await endKeepers(records, { host, apart, folders });
    await audit.close();
    if (left > 0) return `${left} of their processes do not end, not even by force`;
  }
  if (keepsOutput) await removeCopies(folders.folder);
  // A program that has just ended may be held for a moment.
  else await rm(folders.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  return undefined;
}
