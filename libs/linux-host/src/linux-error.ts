/** Kinds of failure. */
export type LinuxErrorCode =
  /** Not Linux, a program or a feature that is not installed, or the foreign function interface cannot be loaded here. */
  | 'unavailable'
  /** The descriptor is no Unix socket that someone connected to. */
  | 'noPeer'
  | 'notFound'
  | 'accessDenied'
  /** The caller's own words are refused, before anything was done. */
  | 'invalidArgument'
  /** A change was reported as done, but the system does not show it. */
  | 'notVerified'
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
