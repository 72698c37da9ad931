import { type FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

export interface KeptDirectoryOptions {
  readonly what: 'audit' | 'events' | 'state';
  readonly listen: string;
  /** Parent folder from the config; default: a folder of the system. */
  readonly parent?: string | undefined;
}

/** Returns the folder for data that survives a reboot. Each pipe has its own, so no two daemons share one. */
export function keptDirectory(
  { what, listen, parent }: KeptDirectoryOptions,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, environment });
  const paths = platform === 'win32' ? path.win32 : path.posix;
  // Escapes characters that are invalid in file names. The escapes are unambiguous, so no two names share a folder.
  const folder = name.replace(/[^a-z0-9_-]/gu, (char) => `%${char.codePointAt(0)?.toString(16)};`);
  if (parent !== undefined) return paths.join(parent, folder);
  if (platform === 'win32') {
    const programData = environment['ProgramData'] ?? 'C:\\ProgramData';
    return paths.join(programData, 'rancher', 'wins', what, folder);
  }
  return posixDirectory(address, what);
}

/** The folder of the system's pipes is in memory, and containers that mount it would see what is in it. */
function posixDirectory(address: string, what: string): string {
  const { dir, base } = path.posix.parse(address);
  return dir === '/run/rancher-wins'
    ? path.posix.join('/var/lib/rancher-wins', what, base)
    : `${address}.${what}`;
}

export function auditDirectoryOf(
  {
    listen,
    audit,
  }: { readonly listen: string; readonly audit: { readonly directory?: string | undefined } },
  platform?: NodeJS.Platform,
  environment?: NodeJS.ProcessEnv,
): string {
  return keptDirectory({ what: 'audit', listen, parent: audit.directory }, platform, environment);
}

/** Folder of the records and outputs of runs, which survive a crash of the daemon and a reboot. */
export function stateDirectoryOf(
  listen: string,
  platform?: NodeJS.Platform,
  environment?: NodeJS.ProcessEnv,
): string {
  return keptDirectory({ what: 'state', listen }, platform, environment);
}

/** Creates the missing folder of a socket, for this user only. @throws TrustedFileError. */
export function ensurePipeFolder(pipe: string, trust: FileTrust): void {
  if (process.platform === 'win32') return;
  const folder = path.dirname(resolvePipePath(pipe).address);
  if (!existsSync(folder)) trust.ensurePrivateFolder(folder);
}
