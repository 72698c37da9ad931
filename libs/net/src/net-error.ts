/**
 * The step that failed.
 *
 * - `invalidRequest`: the address or the proxy of the request is not usable.
 * - `nameResolution`: no address was found for the server.
 * - `unreachable`: no connection to the server.
 * - `proxyFailed`: the proxy cannot be reached, or refuses to connect to the server; `status` is its answer.
 * - `tlsFailed`: the handshake failed for a reason other than the certificate.
 * - `certificateExpired`, `otherHost`, `unknownAuthority`: the certificate was refused for this reason.
 * - `timedOut`: a time-out was reached.
 * - `interrupted`: the connection ended before the answer did.
 * - `redirectRefused`: the server redirects to an address that is not followed.
 * - `badStatus`: the answer has an unexpected `status`.
 * - `badShape`: the answer is not valid HTTP, or has a Content-Encoding.
 * - `tooLarge`: the answer is larger than its limit.
 * - `aborted`: the signal was aborted.
 */
export type NetErrorCode =
  | ('invalidRequest' | 'nameResolution' | 'unreachable' | 'proxyFailed' | 'tlsFailed')
  | ('certificateExpired' | 'otherHost' | 'unknownAuthority' | 'timedOut' | 'interrupted')
  | ('redirectRefused' | 'badStatus' | 'badShape' | 'tooLarge' | 'aborted');

/** Additional facts of an error. */
export interface NetErrorOptions extends ErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly isTransient?: boolean;
}

/**
 * The error class of this package. No message contains a credential, a password, or more than 256 characters of a server's text. A library
 * that sends requests may extend the class with its own codes.
 */
export class NetError<Code extends string = NetErrorCode> extends Error {
  override readonly name: string = 'NetError';
  /** The unexpected status of an answer. */
  readonly status: number | undefined;
  /** Delay that the server requests before the next attempt. */
  readonly retryAfterMs: number | undefined;
  /** Whether a retry may succeed, because the cause is the network or a server that is not ready. */
  readonly isTransient: boolean;

  constructor(
    readonly code: Code,
    message: string,
    { status, retryAfterMs, isTransient = false, ...options }: NetErrorOptions = {},
  ) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isTransient = isTransient;
  }

  /** Returns the same failure with another message. A new error, because the stack trace begins with the message. */
  reworded(message: string, changes: NetErrorOptions = {}): this {
    const { cause, code, status, retryAfterMs, isTransient } = this;
    const Own = this.constructor as new (
      code: Code,
      message: string,
      options: NetErrorOptions,
    ) => this;
    const all = { cause, status, retryAfterMs, isTransient, ...changes };
    const { cause: why, ...facts } = all;
    return new Own(code, message, { ...facts, ...(why !== undefined && { cause: why }) });
  }
}

/** Whether an error is one of this package, or of a library that extends its class. */
export function isNetError(error: unknown): error is NetError<string> {
  return error instanceof NetError;
}
