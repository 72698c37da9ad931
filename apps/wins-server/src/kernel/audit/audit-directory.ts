import { keptDirectory } from '../../kept-directory.js';

/** Where the daemon of a config keeps its audit log: in `audit.directory`, else as `keptDirectory` has it. */
export function auditDirectoryOf(
  { listen, audit }: { readonly listen: string; readonly audit: { readonly directory?: string } },
  platform?: NodeJS.Platform,
  environment?: NodeJS.ProcessEnv,
): string {
  return keptDirectory({ what: 'audit', listen, parent: audit.directory }, platform, environment);
}
