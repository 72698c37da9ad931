import { fileFingerprint, hashFile, replaceFile } from '@wins/trusted-files';
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { digestRecord } from './own-digest.js';

/** A file that changed so shortly before it was read may change again in the same tick of the file system's clock. */
const SETTLED_MS = 2000;

/**
 * Reads the SHA-1 of a program, and remembers it for `recallDigest` if the file did not change meanwhile.
 *
 * @throws what the file system says of the program.
 */
export async function readDigest(program: string, record = digestRecord()): Promise<string> {
  const { mtimeMs, ctimeMs } = statSync(program);
  const state = fileFingerprint(program, { followLinks: true });
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
  const { sha1 } = await hashFile(program, ['sha1'], { followLinks: true });
  const isSame = fileFingerprint(program, { followLinks: true }) === state;
  if (record !== undefined && isSettled && isSame) await remember(record, { state, sha1 });
  return sha1;
}

/** Where there is no place to write, the next call reads the program again. */
async function remember(record: string, known: { state: string; sha1: string }): Promise<void> {
  try {
    mkdirSync(path.dirname(record), { recursive: true, mode: 0o700 });
    await replaceFile(record, `${JSON.stringify(known)}\n`);
  } catch {
    // A profile that is read-only, or none at all.
  }
}
