import { NetError, type NetErrorCode } from '@wins/net';

/**
 * Codes of `NetError`, and:
 * - `invalidRequest`: an unusable address, token, label, proxy or address keyword.
 * - `badShape`: HTML, not JSON, or other first bytes.
 * - `digestMismatch`: a download has another SHA-256.
 * - `checksumMismatch`, `proofFailed`: `/cacerts` has another checksum, or its proof was not made with the given token.
 * - `untrusted`: nothing verifies the server; the message says which option to give.
 * - `strictWithoutCa`: strict TLS is on, but the server names no authority to trust.
 */
export type RancherErrorCode =
  | NetErrorCode
  | 'digestMismatch'
  | 'checksumMismatch'
  | 'proofFailed'
  | 'untrusted'
  | 'strictWithoutCa';

/** No message contains a token or a password. */
export class RancherError extends NetError<RancherErrorCode> {
  override readonly name = 'RancherError';
}
