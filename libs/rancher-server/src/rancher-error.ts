/**
 * Which step failed.
 *
 * - `invalidRequest`: what was given cannot be asked: an address, a token, a label, a proxy, a word for an address.
 * - `nameResolution`: no address was found for the server.
 * - `unreachable`: no connection to the server.
 * - `proxyFailed`: the proxy cannot be reached, or does not lead to the server; `status` is its answer.
 * - `tlsFailed`: the handshake failed for a reason other than the certificate.
 * - `certificateExpired`, `otherHost`, `unknownAuthority`: what is wrong with the certificate.
 * - `timedOut`: a limit of time was reached.
 * - `interrupted`: the connection ended before the answer did.
 * - `redirectRefused`: the server sends to an address that is not followed.
 * - `badStatus`: the answer has another `status` than was wanted.
 * - `badShape`: the answer is not what was asked for: HTML, no JSON, another encoding, other first bytes.
 * - `tooLarge`: the answer is larger than its limit.
 * - `digestMismatch`: a download has another SHA-256.
 * - `checksumMismatch`, `proofFailed`: `/cacerts` has another checksum, or a proof that is not of our token.
 * - `untrusted`: nothing says that the server is the right one; the message says what to give.
 * - `strictWithoutCa`: strict TLS is wanted, and there is no authority to be strict with.
 * - `aborted`: the signal was aborted.
 */
export type RancherErrorCode =
  | 'invalidRequest'
  | 'nameResolution'
  | 'unreachable'
  | 'proxyFailed'
  | 'tlsFailed'
  | 'certificateExpired'
  | 'otherHost'
  | 'unknownAuthority'
  | 'timedOut'
  | 'interrupted'
  | 'redirectRefused'
  | 'badStatus'
  | 'badShape'
  | 'tooLarge'
  | 'digestMismatch'
  | 'checksumMismatch'
  | 'proofFailed'
  | 'untrusted'
  | 'strictWithoutCa'
  | 'aborted';

/** What an error says beside its message. */
export interface RancherErrorOptions extends ErrorOptions {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly isTransient?: boolean;
}

/** The one error class of this library. No message holds a token, a password, or more than 256 characters that a server sent. */
export class RancherError extends Error {
  override readonly name = 'RancherError';
  /** The status of an answer that was not wanted. */
  readonly status: number | undefined;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Whether asking again may help: the network, or a server that is not ready. */
  readonly isTransient: boolean;

  constructor(
    readonly code: RancherErrorCode,
    message: string,
    { status, retryAfterMs, isTransient = false, ...options }: RancherErrorOptions = {},
  ) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isTransient = isTransient;
  }
}
