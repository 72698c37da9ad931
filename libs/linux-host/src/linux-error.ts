/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `unavailable`: the system is not Linux, a program or feature is missing, or the addon cannot be loaded.
 * - `noPeer`: the descriptor is not a connected Unix socket.
 * - `notFound`: the adapter or route does not exist.
 * - `accessDenied`: this user may not do it.
 * - `invalidArgument`: an argument cannot be used; nothing was done.
 * - `notVerified`: the system reported success, but a check did not find the change.
 * - `unknown`: any other failure; `cause` is the error of the system.
 */
export type LinuxErrorCode =
  | 'unavailable'
  | 'noPeer'
  | 'notFound'
  | 'accessDenied'
  | 'invalidArgument'
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
