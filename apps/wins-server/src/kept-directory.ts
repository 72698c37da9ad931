import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

export interface KeptPlace {
  readonly what: 'audit' | 'events';
  readonly listen: string;
  /** The folder that the config names for it; a place of the system otherwise. */
  readonly parent?: string | undefined;
}

/**
 * Where a daemon keeps what outlives a restart of the system. Two daemons never share it: the folder is named after the pipe, which one
 * of them has. For a socket outside the run directory of root it is beside the socket.
 */
export function keptDirectory(
  { what, listen, parent }: KeptPlace,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, env: environment });
  const paths = platform === 'win32' ? path.win32 : path.posix;
  // The name of a pipe may have characters that no file has; no two names become one.
  const folder = name.replace(/[^a-z0-9_-]/gu, (char) => `%${char.codePointAt(0)?.toString(16)};`);
  if (parent !== undefined) return paths.join(parent, folder);
  if (platform === 'win32') {
    const programData = environment['ProgramData'] ?? 'C:\\ProgramData';
    return paths.join(programData, 'rancher', 'wins', what, folder);
  }
  return address === `/run/rancher-wins/${name}`
    ? paths.join('/var/lib/rancher-wins', what, folder)
    : `${address}.${what}`;
}
