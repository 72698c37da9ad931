import { NetError, type NetErrorCode } from '@wins/net';

/**
 * Codes of `NetError`, the first two below with a wider meaning, and further codes:
 * - `invalidRequest`: an unusable address, token, label, proxy or address keyword.
 * - `badShape`: an answer of an unexpected form, such as an HTML page.
 * - `digestMismatch`: a download does not have the expected SHA-256.
 * - `checksumMismatch`: `/cacerts` does not match the given checksum.
 * - `proofFailed`: the proof that comes with `/cacerts` does not match the token.
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
