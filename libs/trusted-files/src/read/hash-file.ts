import { createHash } from 'node:crypto';
import { fileSystemError } from '../file-system-error.js';
import type { TrustOptions } from '../trust/file-trust.js';
import { openRegularFile, type ReadableFile, readBlocks, type ReadLimits } from './open-file.js';

/** Digest algorithms for programs; clients before 1.0 know only SHA-1. */
export type DigestAlgorithm = 'sha1' | 'sha256';

/** Digests in lower-case hexadecimal, by algorithm. */
export type Digests<A extends DigestAlgorithm> = Readonly<Record<A, string>>;

/** Receives each block of a file before the next one is read. An exception aborts the reading and is rethrown unchanged. */
export type OnBlock = (block: Buffer, position: number) => void | Promise<void>;

/** Options of {@link hashFile}. */
export interface HashOptions extends Partial<ReadLimits> {
  readonly onBlock?: OnBlock | undefined;
}

/**
 * Returns the digests of a file in one pass, block by block. Takes a path, with the rules of {@link openRegularFile}, or an
 * open file, which is read from its beginning and stays open. By default the size is not limited.
 *
 * @throws TrustedFileError `tooLarge`, and for a path as {@link openRegularFile}; the reason of the signal.
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
