import { keptDirectory } from '../../kept-directory.js';

/** What of a config says where the audit log is. */
export interface AuditPlace {
  readonly listen: string;
  readonly audit: { readonly directory?: string };
}

/** Where the daemon of a config keeps its audit log: in `audit.directory`, else as `keptDirectory` has it. */
export function auditDirectoryOf(
  { listen, audit }: AuditPlace,
  platform?: NodeJS.Platform,
  environment?: NodeJS.ProcessEnv,
): string {
  return keptDirectory({ what: 'audit', listen, parent: audit.directory }, platform, environment);
}
