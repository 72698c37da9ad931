export type LinuxErrorCode =
  /** The system is not Linux, a program or feature is not installed, or the foreign function interface cannot be loaded. */
  | 'unavailable'
  /** The descriptor is not a connected Unix socket. */
  | 'noPeer'
  | 'notFound'
  | 'accessDenied'
  /** An argument of the caller is invalid; nothing was done. */
  | 'invalidArgument'
  /** A change was reported as done, but is not visible in the system. */
  | 'notVerified'
  | 'unknown';

/** The error class of this library. Its message gives the operation, its target, the finding and the expectation. */
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
