import { NetError, type NetErrorCode } from '@wins/net';

/**
 * Which step failed: the codes of a request, and those of what was asked.
 *
 * - `invalidRequest`: what was given cannot be asked: an address, a token, a label, a proxy, a word for an address.
 * - `badShape`: the answer is not what was asked for: HTML, no JSON, other first bytes.
 * - `digestMismatch`: a download has another SHA-256.
 * - `checksumMismatch`, `proofFailed`: `/cacerts` has another checksum, or a proof that is not of our token.
 * - `untrusted`: nothing says that the server is the right one; the message says what to give.
 * - `strictWithoutCa`: strict TLS is wanted, and there is no authority to be strict with.
 */
export type RancherErrorCode =
  | NetErrorCode
  | 'digestMismatch'
  | 'checksumMismatch'
  | 'proofFailed'
  | 'untrusted'
  | 'strictWithoutCa';

/** The one error class of this library; requests fail with the `NetError` that it extends. No message holds a token or a password. */
export class RancherError extends NetError<RancherErrorCode> {
  override readonly name = 'RancherError';
}
