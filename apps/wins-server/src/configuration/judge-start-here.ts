import type { WinsConfig } from '@wins/config';
import { judgeStart, MAX_EXECUTABLE_BYTES, type StartVerdict } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import type { ProcessHost } from '@wins/base';
import { allowedBy } from './allowed-executables.js';

/** Judges a start on this host; hashes the file when digests are pinned and none is given. @throws TrustedFileError */
export async function judgeStartHere(
  question: { readonly path: string; readonly sha256?: string | undefined },
  config: WinsConfig,
  host: ProcessHost,
): Promise<StartVerdict> {
  const { path, sha256 } = question;
  const context = { allowed: allowedBy(config), host, maxBytes: MAX_EXECUTABLE_BYTES };
  const verdict = await judgeStart({ path, ...(sha256 !== undefined && { sha256 }) }, context);
  if (verdict.refusal !== undefined || !verdict.isPinned || sha256 !== undefined) return verdict;
  const found = await hashFile(path, ['sha256'], { maxBytes: MAX_EXECUTABLE_BYTES });
  return judgeStart({ path, sha256: found.sha256 }, context);
}
