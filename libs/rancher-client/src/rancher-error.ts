import { NetError, type NetErrorCode } from '@wins/net';

/**
 * Codes of failures: those of any HTTP request, and these:
 *
 * - `invalidRequest`: the input cannot be used: an address, a token, a label, a proxy, an address keyword.
 * - `badShape`: the answer has the wrong form: HTML, not JSON, other first bytes.
 * - `digestMismatch`: a download has another SHA-256.
 * - `checksumMismatch`, `proofFailed`: `/cacerts` has another checksum, or its proof was not made with our token.
 * - `untrusted`: nothing verifies the server; the message says which option to give.
 * - `strictWithoutCa`: strict TLS is on, but the server has no authority for it.
 */
export type RancherErrorCode =
  | NetErrorCode
  | 'digestMismatch'
  | 'checksumMismatch'
  | 'proofFailed'
  | 'untrusted'
  | 'strictWithoutCa';

/**
 * The only error class of this library; failed requests throw the `NetError` that it extends. No message contains a
 * token or a password.
 */
export class RancherError extends NetError<RancherErrorCode> {
  override readonly name = 'RancherError';
}
