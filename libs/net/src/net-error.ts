/**
 * Identifies the failed step.
 *
 * - `invalidRequest`: the address of a proxy cannot be used; nothing was sent.
 * - `nameResolution`: the name of the server cannot be resolved.
 * - `unreachable`: no connection to the server can be opened.
 * - `proxyFailed`: the proxy is unreachable, its TLS failed, or it refused the request; `status` is its answer, if one arrived.
 * - `tlsFailed`: the handshake failed for a reason other than the certificate.
 * - `certificateExpired`: the certificate has expired, or is not valid yet.
 * - `otherHost`: the certificate is for another name.
 * - `unknownAuthority`: no trusted authority has signed the certificate.
 * - `timedOut`: a step exceeded its limit.
 * - `interrupted`: the connection ended before the answer did.
 * - `redirectRefused`: a redirect is not allowed, or there are too many.
 * - `badStatus`: the status is not 200; see `status` and `retryAfterMs`.
 * - `badShape`: the answer is invalid HTTP, or has an unwanted Content-Encoding.
 * - `tooLarge`: the answer has more bytes than allowed.
 * - `aborted`: the signal ended the request; `cause` is its reason.
 */
export type NetErrorCode =
  | ('invalidRequest' | 'nameResolution' | 'unreachable' | 'proxyFailed' | 'tlsFailed')
  | ('certificateExpired' | 'otherHost' | 'unknownAuthority' | 'timedOut' | 'interrupted')
  | ('redirectRefused' | 'badStatus' | 'badShape' | 'tooLarge' | 'aborted');

/** Facts about a failed request, beside its code. */
export interface NetErrorDetails extends ErrorOptions {
  /** HTTP status of the answer, if one arrived. */
  readonly status?: number | undefined;
  /** Delay that the server requested in `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** True if a retry may succeed. Default: false. */
  readonly isTransient?: boolean | undefined;
}

/** Messages contain no credential, and at most 256 characters of a server's text. Libraries may extend the class. */
export class NetError<Code extends string = NetErrorCode> extends Error {
  override readonly name: string = 'NetError';
  /** HTTP status of the answer; undefined if none arrived. */
  readonly status: number | undefined;
  /** Delay that the server requested in `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** True if a retry may succeed, because the cause is the network or a server that is not ready. */
  readonly isTransient: boolean;

  constructor(
    readonly code: Code,
    message: string,
    { status, retryAfterMs, isTransient = false, ...options }: NetErrorDetails = {},
  ) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isTransient = isTransient;
  }

  /** Returns a copy, because changing `message` would leave the old message in `stack`. */
  reworded(message: string, changes: NetErrorDetails = {}): this {
    const { cause, code, status, retryAfterMs, isTransient } = this;
    const Own = this.constructor as new (
      code: Code,
      message: string,
      options: NetErrorDetails,
    ) => this;
    const all = { cause, status, retryAfterMs, isTransient, ...changes };
    const { cause: why, ...facts } = all;
    return new Own(code, message, { ...facts, ...(why !== undefined && { cause: why }) });
  }
}

/** True for any {@link NetError}, also of a class that extends it, whatever its code. */
export function isNetError(error: unknown): error is NetError<string> {
  return error instanceof NetError;
}
