import { ProcessError } from '../process-error.js';
import type { DigestAlgorithm, Digests } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';

/** The digest that a client saw, in the strongest algorithm that it sent; lower-case hexadecimal. */
export interface ExpectedDigest {
  readonly algorithm: 'sha1' | 'sha256';
  readonly hex: string;
}

/**
 * Takes the stronger of the digests that a client sent. An empty text counts as not sent.
 *
 * @throws ProcessError `invalidArgument` when there is none or when one is malformed.
 */
export function expectedDigest(sha1 = '', sha256 = ''): ExpectedDigest {
  if (sha256 !== '' && !/^[0-9a-f]{64}$/i.test(sha256)) throw malformed('SHA-256', 64);
  if (sha1 !== '' && !/^[0-9a-f]{40}$/i.test(sha1)) throw malformed('SHA-1', 40);
  if (sha256 !== '') return { algorithm: 'sha256', hex: sha256.toLowerCase() };
  if (sha1 !== '') return { algorithm: 'sha1', hex: sha1.toLowerCase() };
  throw new ProcessError(
    'invalidArgument',
    'cannot verify the executable: the request has no checksum; wanted SHA-256 or SHA-1',
  );
}

function malformed(name: string, digits: number): ProcessError {
  return new ProcessError(
    'invalidArgument',
    `cannot verify the executable: the ${name} checksum is malformed; wanted ${digits} hexadecimal digits`,
  );
}

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
