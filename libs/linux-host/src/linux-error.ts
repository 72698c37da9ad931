/** Reason of a failure. The list is closed, so that a switch over it can be exhaustive. */
export type LinuxErrorCode =
  /** The system is not Linux, a program or feature is missing, or the addon cannot be loaded. */
  | 'unavailable'
  /** The descriptor is not a connected Unix socket. */
  | 'noPeer'
  | 'notFound'
  | 'accessDenied'
  /** Nothing was done. */
  | 'invalidArgument'
  /** A change was reported as done, but is not visible in the system. */
  | 'notVerified'
  | 'unknown';

/** The message gives the operation, its target, the finding and the expectation. */
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
