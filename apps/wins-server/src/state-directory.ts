import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

/** Where a daemon with this pipe keeps what it must know of its processes after a crash; beside the socket where there is one. */
export function stateDirectoryOf(
  listen: string,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, env: environment });
  if (platform !== 'win32') return `${address}.state`;
  const programData = environment['ProgramData'] ?? 'C:\\ProgramData';
  // The name of a pipe may have characters that no file has.
  const folder = name.replace(/[^A-Za-z0-9_-]/g, (char) => `%${char.codePointAt(0)?.toString(16)}`);
  return path.win32.join(programData, 'rancher', 'wins', 'state', folder);
}
