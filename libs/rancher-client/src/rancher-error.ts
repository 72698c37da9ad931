import { NetError, type NetErrorCode } from '@wins/net';

/**
 * All codes of `NetError`, and five more. Two codes of `NetError` have a wider meaning here:
 * - `invalidRequest`: an unusable address, token, label, proxy or address keyword.
 * - `badShape`: an answer of an unexpected form, such as an HTML page.
 *
 * The five further codes:
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
