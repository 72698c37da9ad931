import { resolvePipePath } from '@wins/pipe-transport';
import type { FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** For this user only, because a config is accepted before its folders exist. @throws TrustedFileError. */
export function ensurePipeFolder(pipe: string, trust: FileTrust): void {
  if (process.platform === 'win32') return;
  const folder = path.dirname(resolvePipePath(pipe).address);
  if (!existsSync(folder)) trust.ensurePrivateFolder(folder);
}
