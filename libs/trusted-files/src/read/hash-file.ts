import type { Optional } from '@wins/base';
import { createHash } from 'node:crypto';
import { fileSystemError } from '../file-system-error.js';
import type { TrustOptions } from '../trust/file-trust.js';
import { openRegularFile, type ReadableFile, readBlocks, type ReadLimits } from './open-file.js';

/** Clients before 1.0 know only SHA-1. */
export type DigestAlgorithm = 'sha1' | 'sha256';

/** In lower-case hexadecimal. */
export type Digests<A extends DigestAlgorithm> = Readonly<Record<A, string>>;

/** Receives each block before the next one is read. An exception ends the reading and reaches the caller. */
export type OnBlock = (block: Buffer, position: number) => void | Promise<void>;

/** Options of {@link hashFile}. */
export interface HashOptions extends Optional<ReadLimits> {
  readonly onBlock?: OnBlock | undefined;
}

/**
 * Hashes a file in one pass. The file is a path, as for {@link openRegularFile}, or an open file, which is read from its
 * beginning and stays open. By default there is no size limit.
 *
 * @throws TrustedFileError `tooLarge`, and as {@link openRegularFile}; the reason of the signal.
 */
export async function hashFile<A extends DigestAlgorithm>(
  file: string | ReadableFile,
  algorithms: readonly A[],
  options: HashOptions & TrustOptions = {},
): Promise<Digests<A>> {
  if (typeof file !== 'string') return hashOpenFile(file, algorithms, options);
  const opened = await openRegularFile(file, options);
  try {
    return await hashOpenFile(opened, algorithms, options);
  } finally {
    await opened.handle.close();
  }
}

async function hashOpenFile<A extends DigestAlgorithm>(
  file: ReadableFile,
  algorithms: readonly A[],
  { maxBytes = Number.MAX_SAFE_INTEGER, signal, onBlock }: HashOptions,
): Promise<Digests<A>> {
  const hashes = algorithms.map((algorithm) => [algorithm, createHash(algorithm)] as const);
  let position = 0;
  try {
    for await (const block of readBlocks(file, { maxBytes, signal })) {
      for (const [, hash] of hashes) hash.update(block);
      await onBlock?.(block, position);
      position += block.length;
    }
  } catch (error) {
    throw fileSystemError(error, 'read', file.path);
  }
  const digests = hashes.map(([algorithm, hash]) => [algorithm, hash.digest('hex')] as const);
  return Object.fromEntries(digests) as Digests<A>;
}
