import { fileSystemError, type FileTrust } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rm, unlink } from 'node:fs/promises';
import path from 'node:path';

/**
 * Writes a new file that this user and the system's administrators alone can read. Nothing is replaced, and no link is followed. On Windows, where a
 * file gets the access list of its folder, it is written in a private folder beside its place first.
 *
 * @throws TrustedFileError `alreadyExists`, `notFound` (no folder), `accessDenied`, `noSpace`, `unknown`; nothing is left then.
 */
export async function writePrivateFile(
  file: string,
  content: Buffer,
  trust: () => FileTrust,
): Promise<void> {
  if (process.platform !== 'win32') return write(file, file, content);
  const folder = `${file}.${randomUUID().slice(0, 8)}.tmp`;
  trust().ensurePrivateFolder(folder);
  try {
    const made = path.join(folder, 'bundle');
    await write(made, file, content);
    await link(made, file);
  } catch (error) {
    throw fileSystemError(error, 'write', file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(at: string, named: string, content: Buffer): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const noFollow = process.platform === 'win32' ? 0 : constants.O_NOFOLLOW;
  let isOurs = false;
  try {
    await using handle = await open(at, O_WRONLY | O_CREAT | O_EXCL | noFollow, 0o600);
    isOurs = true;
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    if (isOurs) await unlink(at).catch(() => undefined);
    throw fileSystemError(error, 'write', named);
  }
}
