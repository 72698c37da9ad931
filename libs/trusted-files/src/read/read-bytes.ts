import type { FileTrust, TrustOptions } from '../trust/file-trust.js';
import { TrustedFileError } from '../trusted-file-error.js';
import { openRegularFile, openTrustedFile, readWhole, type ReadLimits } from './open-file.js';
import { decodeText, WANTED_TEXT } from './decode-text.js';

/** Options of {@link readBytes}. */
export interface ReadOptions extends ReadLimits, TrustOptions {
  /** Checks who could have written the file. Default: any regular file is read. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'> | undefined;
}

/**
 * Reads a small file.
 *
 * @throws TrustedFileError `notFound`, `accessDenied`, `notRegularFile`, `tooLarge`, `notTrusted` (also for a link, unless
 * `followLinks`), `inUse`, `changed`, `unknown`; the reason of the signal.
 */
export async function readBytes(
  path: string,
  { trust, followLinks = false, ...limits }: ReadOptions,
): Promise<Buffer> {
  const file = await (trust === undefined
    ? openRegularFile(path, { followLinks })
    : openTrustedFile(path, trust, { followLinks }));
  try {
    return await readWhole(file, limits);
  } finally {
    await file.handle.close();
  }
}

/** For use in a `catch`: undefined for a missing file. @throws every other error, unchanged. */
export function unlessNotFound(error: unknown): undefined {
  if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
  throw error;
}

/** Reads a small text file, without its byte order mark. @throws TrustedFileError `notText`, and errors of {@link readBytes}. */
export async function readText(path: string, options: ReadOptions): Promise<string> {
  const decoded = decodeText(await readBytes(path, options));
  if ('text' in decoded) return decoded.text;
  const found = `found ${decoded.undecodable}; wanted ${WANTED_TEXT}`;
  throw new TrustedFileError('notText', 'read', path, found);
}
