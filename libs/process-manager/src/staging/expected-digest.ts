import { ProcessError } from '../process-error.js';

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
