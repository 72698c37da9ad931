import type { DigestAlgorithm, Digests } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';

import { ProcessError } from '../process-error.js';
import type { ExpectedDigest } from './expected-digest.js';

/** Which bytes a program must have. */
export interface WantedBytes {
  readonly source: string;
  readonly expected: ExpectedDigest;
  /** The only SHA-256 digests that may run; undefined allows any content. */
  readonly pins: readonly string[] | undefined;
}

/**
 * The bytes of a program must be those that the client saw, and those that the entry pins.
 *
 * @throws ProcessError `checksumMismatch`, `digestNotPinned`.
 */
export function requireBytes(
  digests: Digests<'sha256'> & Partial<Digests<DigestAlgorithm>>,
  { source, expected, pins }: WantedBytes,
): void {
  const found = digests[expected.algorithm];
  if (found !== expected.hex) {
    throw new ProcessError(
      'checksumMismatch',
      `cannot run ${quoteText(source)}: the host's file has ${expected.algorithm} ${found}, the client's has ${expected.hex}; wanted the same file on both sides`,
      { path: source, rule: 'A16 checksum differs' },
    );
  }
  const { sha256 } = digests;
  if (pins !== undefined && !pins.some((pin) => pin.toLowerCase() === sha256)) {
    throw new ProcessError(
      'digestNotPinned',
      `cannot run ${quoteText(source)}: its sha256 ${sha256} is not among the ${pins.length} pinned for this path`,
      { path: source, rule: 'A17 digest not pinned' },
    );
  }
}
