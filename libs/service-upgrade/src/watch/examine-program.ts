import { fileFingerprint, hashFile, type FileFingerprint } from '@wins/trusted-files';
import { messageOf, type CanonicalPath } from '@wins/base';

export type Examination =
  | { readonly kind: 'program'; readonly sha1: string; readonly sha256: string }
  /** Others could have written the file, or it cannot be read. */
  | { readonly kind: 'unfit'; readonly found: string }
  | { readonly kind: 'moved' };

/** Checks who may write a file and, if the system can, prevents writes. */
export interface FileGuard {
  /** Rejects for a file that anyone except administrators and this user may write or replace. */
  assertTrustedFile(file: CanonicalPath): Promise<void>;
  /** Prevents others from writing the file until the result is closed; absent if the system cannot. */
  holdFile?(file: string): Promise<{ close(): void }>;
}

const MAX_BYTES = 2 * 1024 ** 3;

/**
 * Hashes a program that will become the service. It is `unfit` if anyone except administrators and this user can write it.
 * @param state - Earlier state of the file: a file that has changed since is `moved`.
 * @throws the reason of `signal`.
 */
export async function examineProgram(
  file: CanonicalPath,
  state: FileFingerprint,
  guard: FileGuard,
  signal: AbortSignal,
): Promise<Examination> {
  try {
    await guard.assertTrustedFile(file);
    const held = await guard.holdFile?.(file);
    try {
      const digests = await hashFile(file, ['sha1', 'sha256'], { maxBytes: MAX_BYTES, signal });
      return fileFingerprint(file) === state ? { kind: 'program', ...digests } : { kind: 'moved' };
    } finally {
      held?.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (fileFingerprint(file) !== state) return { kind: 'moved' };
    return { kind: 'unfit', found: messageOf(error) };
  }
}
