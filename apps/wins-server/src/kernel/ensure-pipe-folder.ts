import { resolvePipePath } from '@wins/pipe-transport';
import type { FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes the folder of a pipe that is a path, where there is none, for this user alone: a config is
 * accepted before its folders exist. A folder that exists is judged when the pipe is opened.
 *
 * @throws TrustedFileError when it cannot be made.
 */
export function ensurePipeFolder(pipe: string, trust: FileTrust): void {
  if (process.platform === 'win32') return;
  const folder = path.dirname(resolvePipePath(pipe).address);
  if (!existsSync(folder)) trust.ensurePrivateFolder(folder);
}
