import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

/** What of a config says where the audit log is. */
export interface AuditPlace {
  readonly listen: string;
  readonly audit: { readonly directory?: string };
}

/**
 * Where the daemon of a config keeps its audit log. Two daemons never share one: the folder is named after the pipe, which one of
 * them has. Without `audit.directory` it is where things outlive a restart of the system, for a socket outside the run directory
 * of root beside the socket.
 */
export function auditDirectoryOf(
  { listen, audit }: AuditPlace,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, env: environment });
  const paths = platform === 'win32' ? path.win32 : path.posix;
  // The name of a pipe may have characters that no file has; no two names become one.
  const folder = name.replace(/[^a-z0-9_-]/gu, (char) => `%${char.codePointAt(0)?.toString(16)};`);
  if (audit.directory !== undefined) return paths.join(audit.directory, folder);
  if (platform === 'win32') {
    const programData = environment['ProgramData'] ?? 'C:\\ProgramData';
    return paths.join(programData, 'rancher', 'wins', 'audit', folder);
  }
  return address === `/run/rancher-wins/${name}`
    ? paths.join('/var/lib/rancher-wins/audit', folder)
    : `${address}.audit`;
}
