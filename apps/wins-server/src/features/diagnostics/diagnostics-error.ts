/** Why a process cannot tell about itself. */
export type DiagnosticsErrorCode =
  /** The same is being taken already. */
  | 'busy'
  /** It would be, or has become, larger than its limit. */
  | 'tooLarge'
  /** A time is not within its limits. */
  | 'invalidArgument'
  /** This Node does not have it. */
  | 'unavailable'
  /** Anything else, with its cause. */
  | 'unknown';

/** The one error of this library. Its message says what was tried, what was found and what was wanted. */
export class DiagnosticsError extends Error {
  override readonly name = 'DiagnosticsError';

  constructor(
    readonly code: DiagnosticsErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
