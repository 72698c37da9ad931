import {
  copyPendingFile,
  fileSystemError,
  hashFile,
  openRegularFile,
  removeLeftovers,
  replaceFile,
  TrustedFileError,
  type OpenFile,
} from '@wins/trusted-files';
import { errnoOf, EXIT, messageOf } from '@wins/base';
import { createHash, randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { CommandError } from '../command-error.js';

export interface Delivery {
  readonly from: string;
  /** Target path in an existing folder; a regular file or absent. */
  readonly to: string;
  /** 64 hexadecimal digits. */
  readonly sha256?: string | undefined;
  /** Time to wait while another process has the target open. */
  readonly waitTimeoutMs: number;
  /** Written instead of the source's bytes; `sha256` still applies to the source. */
  readonly content?: Buffer | undefined;
  /** Receives the digest of the new content before the write. */
  readonly permit?: ((sha256: string) => Promise<void>) | undefined;
  /** Called before each attempt to replace a file; an error leaves that file in place. */
  readonly beforeReplace?: (() => Promise<void>) | undefined;
  /**
   * Replaces the target only if it still has this digest. An undefined `sha256` means that the target must still be absent. Default: replaces any
   * target.
   */
  readonly decidedFor?: { readonly sha256: string | undefined };
}

export interface Delivered {
  /** False when the target already had the same bytes. */
  readonly changed: boolean;
  readonly sha256: string;
}

/** Larger than any release. */
const LIMITS = { maxBytes: 512 * 1024 * 1024 };
/** Age above which temporary files are removed, because no delivery takes that long. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * Copies a file atomically, even across a power failure, unless the target has the same bytes.
 *
 * On Windows, the new file inherits its access list. On other systems, it gets the mode of the replaced file, or the mode of the source if no file
 * is replaced. Only its owner may write the new file, even if that mode allows more.
 * @throws CommandError 127: source or folder missing. 126: wrong digest, above 512 MiB, not a regular file. 125: any other error.
 */
export async function deliverFile(delivery: Delivery): Promise<Delivered> {
  const { from, to } = delivery;
  const source = await openSource(from);
  try {
    const found = (await hashFile(source, ['sha256'], LIMITS)).sha256;
    if (delivery.sha256 !== undefined && delivery.sha256.toLowerCase() !== found)
      throw refuse(`${from} has the SHA-256 ${found}; wanted ${delivery.sha256.toLowerCase()}`);
    const { content } = delivery;
    const sha256 =
      content === undefined ? found : createHash('sha256').update(content).digest('hex');
    await delivery.permit?.(sha256);
    const old = await lookAt(to);
    if (old !== undefined && (await hasDigest(to, sha256))) return { changed: false, sha256 };
    const mode = ((old ?? source.stats).mode & 0o755) | 0o600;
    await replace(source, delivery, { sha256, mode });
    return { changed: true, sha256 };
  } catch (error) {
    throw failure(delivery, error);
  } finally {
    await source.handle.close();
  }
}

async function openSource(from: string): Promise<OpenFile> {
  try {
    return await openRegularFile(from, { followLinks: true });
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    if (error.code === 'notRegularFile') throw refuse(`${from} is not a regular file`);
    const isMissing = errnoOf(error.cause) === 'ENOENT';
    const found = isMissing ? 'no such file' : `cannot be read: ${error.found}`;
    const exitCode = isMissing ? EXIT.client.notFound : EXIT.client.failed;
    throw new CommandError(`${from}: ${found}`, exitCode, { cause: error });
  }
}

async function lookAt(to: string): Promise<{ readonly mode: number } | undefined> {
  try {
    const stats = await lstat(to);
    if (stats.isFile()) return stats;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  throw refuse(`${to} is not a regular file`);
}

async function hasDigest(file: string, sha256: string): Promise<boolean> {
  try {
    return (await hashFile(file, ['sha256'], LIMITS)).sha256 === sha256;
  } catch {
    // A target that cannot be compared is replaced.
    return false;
  }
}

async function replace(
  source: OpenFile,
  { to, waitTimeoutMs, content, decidedFor, beforeReplace }: Delivery,
  { sha256, mode }: { readonly sha256: string; readonly mode: number },
): Promise<void> {
  await removeLeftovers(
    to,
    /^[0-9a-f]{16}\.new$/,
    (_name, { mtimeMs }) => Date.now() - mtimeMs > ABANDONED_AFTER_MS,
  );
  const random = randomBytes(8).toString('hex');
  const temporary = path.join(path.dirname(to), `.${path.basename(to)}.${random}.new`);
  const beforeRename = async (): Promise<void> => {
    const isThere = (await lookAt(to)) !== undefined;
    if (decidedFor !== undefined) {
      const now = isThere ? (await hashFile(to, ['sha256'], LIMITS)).sha256 : undefined;
      if (now !== decidedFor.sha256)
        throw new CommandError(`${to} was changed meanwhile; run the command again`);
    }
    if (isThere) await beforeReplace?.();
  };
  const placing = { heldFileMs: waitTimeoutMs, beforeRename };
  if (content !== undefined) {
    await replaceFile(to, content, { mode, temporary, ...placing });
    return;
  }
  const copy = await copyPendingFile(source, to, {
    ...LIMITS,
    mode,
    algorithms: ['sha256'],
    temporary,
    accept: (written) => {
      if (written.sha256 === sha256) return;
      throw new CommandError(
        `the file changed while it was copied: found the SHA-256 ${written.sha256}`,
      );
    },
  });
  await copy.place(placing);
}

function refuse(found: string): CommandError {
  return new CommandError(found, EXIT.client.refused);
}

function failure({ from, to }: Delivery, cause: unknown): CommandError {
  const tried = `cannot deliver ${from} to ${to}`;
  const error = fileSystemError(cause, 'write', to);
  if (error instanceof CommandError)
    return new CommandError(`${tried}: ${error.message}`, error.exitCode, { cause });
  if (!(error instanceof TrustedFileError))
    return new CommandError(`${tried}: ${messageOf(error)}`, EXIT.client.failed, { cause });
  if (error.code === 'tooLarge')
    return new CommandError(`${tried}: ${from}: ${error.found}`, EXIT.client.refused, { cause });
  if (error.code === 'notFound') {
    const found = `the folder ${path.dirname(to)} does not exist. Create it first`;
    return new CommandError(`${tried}: ${found}`, EXIT.client.notFound, { cause });
  }
  return new CommandError(`${tried}: ${error.found}`, EXIT.client.failed, { cause });
}
