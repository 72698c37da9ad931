/** Options of every call. */
export interface CallOptions {
  /** Aborting it ends the call with the code `aborted`; its reason is the `cause`. */
  readonly signal?: AbortSignal;
}
