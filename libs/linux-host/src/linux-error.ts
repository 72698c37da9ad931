/** What kind of failure it was. */
export type LinuxErrorCode =
  /** Not Linux, a program or a feature that is not installed, or the foreign function interface cannot be loaded here. */
  | 'unavailable'
  /** The descriptor is no Unix socket that somebody connected to. */
  | 'no-peer'
  | 'not-found'
  | 'access-denied'
  /** The caller's own words are refused, before anything was done. */
  | 'invalid-argument'
  /** A change was reported as done, but the system does not show it. */
  | 'not-verified'
  | 'unknown';

/** Every failure of this library. The message says what was tried, on what, what was found and what was wanted. */
export class LinuxError extends Error {
  override readonly name = 'LinuxError';

  constructor(
    readonly code: LinuxErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
