/**
 * The step that failed.
 *
 * - `invalidRequest`: what was given cannot be asked: an address, or a proxy.
 * - `nameResolution`: no address was found for the server.
 * - `unreachable`: no connection to the server.
 * - `proxyFailed`: the proxy cannot be reached, or does not lead to the server; `status` is its answer.
 * - `tlsFailed`: the handshake failed for a reason other than the certificate.
 * - `certificateExpired`, `otherHost`, `unknownAuthority`: what is wrong with the certificate.
 * - `timedOut`: a limit of time was reached.
 * - `interrupted`: the connection ended before the answer did.
 * - `redirectRefused`: the server sends to an address that is not followed.
 * - `badStatus`: the answer has another `status` than was wanted.
 * - `badShape`: the answer is no HTTP, or encoded.
 * - `tooLarge`: the answer is larger than its limit.
 * - `aborted`: the signal was aborted.
 */
export type NetErrorCode =
  | ('invalidRequest' | 'nameResolution' | 'unreachable' | 'proxyFailed' | 'tlsFailed')
  | ('certificateExpired' | 'otherHost' | 'unknownAuthority' | 'timedOut' | 'interrupted')
  | ('redirectRefused' | 'badStatus' | 'badShape' | 'tooLarge' | 'aborted');

/** Facts beside the message of an error. */
export interface NetErrorOptions extends ErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly isTransient?: boolean;
}

/**
 * The one error class of this package. No message holds a credential, a password, or more than 256 characters that a server sent. A library that asks
 * servers may extend it by codes of its own.
 */
export class NetError<Code extends string = NetErrorCode> extends Error {
  override readonly name: string = 'NetError';
  /** The status of an answer that was not wanted. */
  readonly status: number | undefined;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Whether asking again may help: the network, or a server that is not ready. */
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

  /** The same failure in other words: the trace begins with the message, so that another message takes another error. */
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

/** Whether an error is one of this package, or of a library that extends it. */
export function isNetError(error: unknown): error is NetError<string> {
  return error instanceof NetError;
}
