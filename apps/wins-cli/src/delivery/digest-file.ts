import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

const READ_BYTES = 1024 * 1024;

/**
 * Lower-case hexadecimal digests of a file, read once. Synchronous: the client has nothing else to
 * do, and streams would cost more than a small file does.
 *
 * @throws What Node throws when the file cannot be read.
 */
export function digestFile<Algorithm extends 'sha1' | 'sha256'>(
  file: string,
  algorithms: readonly Algorithm[],
): Record<Algorithm, string> {
  const hashes = algorithms.map((algorithm) => [algorithm, createHash(algorithm)] as const);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    for (
      let length = readSync(descriptor, buffer);
      length > 0;
      length = readSync(descriptor, buffer)
    ) {
      for (const [, hash] of hashes) hash.update(buffer.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
  const digests = hashes.map(([algorithm, hash]) => [algorithm, hash.digest('hex')] as const);
  return Object.fromEntries(digests) as Record<Algorithm, string>;
}
