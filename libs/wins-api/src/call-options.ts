/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then fails with the code `aborted`; the signal's reason is the `cause`. */
  readonly signal?: AbortSignal;
}
