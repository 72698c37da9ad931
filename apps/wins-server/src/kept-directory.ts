import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

export interface KeptPlace {
  readonly what: 'audit' | 'events';
  readonly listen: string;
  /** Parent folder from the config; default: a folder of the system. */
  readonly parent?: string | undefined;
}

/** Folder for data that survives a restart of the system, named after the pipe so that no two daemons share it. */
export function keptDirectory(
  { what, listen, parent }: KeptPlace,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, env: environment });
  const paths = platform === 'win32' ? path.win32 : path.posix;
  // Pipe names may contain characters that are invalid in file names; the encoding is unique.
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
