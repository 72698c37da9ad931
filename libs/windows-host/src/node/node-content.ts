import { copyPendingFile, readBytes, writePendingFile } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { refused } from './node-access.js';

const MAX_BYTES = 1024 * 1024;
/** More than any program. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Small content out of a file, once its digest is known to be right. What it holds is told by no error. */
export async function contentIn(file: string | undefined, sha256: string): Promise<Buffer> {
  if (file === undefined) throw refused('read content', 'no file with it');
  const bytes = await readBytes(file, { maxBytes: MAX_BYTES });
  if (digestOf(bytes) === sha256) return bytes;
  throw refused('read content', `another digest than ${sha256}`);
}

/** Writes bytes to a new file, durably. */
export async function keepBytes(file: string, bytes: Buffer): Promise<void> {
  await writePendingFile(`${file}.kept`, { mode: 0o600 }, (write) => write(bytes, 0), file);
}

/** Copies a file to a new one, durably. */
export async function keepFile(from: string, to: string): Promise<void> {
  const limits = { algorithms: ['sha256'], mode: 0o600, maxBytes: MAX_FILE_BYTES } as const;
  await (await copyPendingFile(from, to, limits)).place();
}

/** SHA-256 in lower-case hexadecimal. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
