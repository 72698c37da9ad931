/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `unavailable`: this system lacks the feature or a program such as `ip`, or the addon cannot be loaded.
 * - `noPeer`: the descriptor is not a connected Unix socket.
 * - `notFound`: the adapter, the default route, or the program to run does not exist.
 * - `accessDenied`: this user may not do it, or other users could change the program to run.
 * - `invalidArgument`: an argument cannot be used; nothing was done.
 * - `notVerified`: the system reported success, but the routing table does not have the change.
 * - `unknown`: any other failure; `cause` is the error of the system, if there is one.
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
