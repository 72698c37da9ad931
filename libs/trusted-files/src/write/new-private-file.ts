import { type PendingOptions, writePendingFile, type WriteAt } from './pending-file.js';

/**
 * Writes a file that nobody else can open, under a name that nothing has: a file or link of that name is refused, not replaced. The name shows
 * a part of it while it is written, and nothing once that has failed.
 *
 * @param fill - Writes the content; what it throws ends it, unchanged but for errors of the file system.
 * @param options - `create` where permission bits do not say who may use a file.
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`.
 */
export async function writeNewPrivateFile(
  path: string,
  fill: (write: WriteAt) => Promise<void>,
  options: Pick<PendingOptions, 'create'> = {},
): Promise<void> {
  await writePendingFile(path, { mode: 0o600, ...options }, fill, path);
}
