import { fileSystemError } from '@wins/trusted-files';
import { escapeText, messageOf, UsageError } from '@wins/wins-program';
import { stat } from 'node:fs/promises';
import { auditDirectoryOf } from '../kernel/audit/audit-directory.js';
import { loadDaemonConfig } from '../configuration/load-daemon-config.js';

/** Which audit log a command is about. */
export interface AuditPlaceOptions {
  readonly config?: string | undefined;
  readonly directory?: string | undefined;
}

/**
 * The folder of an audit log: the one that is named, else that of the daemon of the config.
 *
 * @throws UsageError when there is none, or it cannot be read.
 */
export async function auditPlace({ config, directory }: AuditPlaceOptions): Promise<string> {
  const folder = directory ?? (await configured(config));
  try {
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    const found = messageOf(fileSystemError(error, 'read the audit log in', folder));
    throw new UsageError(`${found}; wanted the folder of a daemon's log`);
  }
  throw new UsageError(`cannot read the audit log: ${escapeText(folder)} is not a folder`);
}

async function configured(config: string | undefined): Promise<string> {
  return auditDirectoryOf((await loadDaemonConfig(config)).config);
}
