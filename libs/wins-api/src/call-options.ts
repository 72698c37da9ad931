/** Options of every call. */
export interface CallOptions {
  /** Aborting it ends the call with the code `cancelled`. */
  readonly signal?: AbortSignal;
}
