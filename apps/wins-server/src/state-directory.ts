import { resolvePipePath } from '@wins/pipe-transport';
import path from 'node:path';

/** Folder of the process records for the time after a crash; for a socket, beside it. */
export function stateDirectoryOf(
  listen: string,
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { address, name } = resolvePipePath(listen, { platform, env: environment });
  if (platform !== 'win32') return `${address}.state`;
  const programData = environment['ProgramData'] ?? 'C:\\ProgramData';
  // Pipe names may contain characters that are invalid in file names.
  const folder = name.replace(/[^A-Za-z0-9_-]/g, (char) => `%${char.codePointAt(0)?.toString(16)}`);
  return path.win32.join(programData, 'rancher', 'wins', 'state', folder);
}
