import { keptDirectory } from '../../kept-directory.js';

/** Returns the audit folder of a config's daemon: `audit.directory`, else the one of `keptDirectory`. */
export function auditDirectoryOf(
  { listen, audit }: { readonly listen: string; readonly audit: { readonly directory?: string } },
  platform?: NodeJS.Platform,
  environment?: NodeJS.ProcessEnv,
): string {
  return keptDirectory({ what: 'audit', listen, parent: audit.directory }, platform, environment);
}
