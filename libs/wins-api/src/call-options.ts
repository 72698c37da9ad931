/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then fails with the code `aborted`; the signal's reason is the `cause`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link RunsClient.stop}. */
export interface StopOptions extends CallOptions {
  /**
   * Kills the program at once. Allowed for an administrator, and for the client that started the run and passes the run's id.
   * Default false.
   */
  readonly force?: boolean | undefined;
}
