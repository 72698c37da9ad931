/**
 * Reason of a failure.
 *
 * - `closed`: the network is no longer managed.
 * - `aborted`: the caller's signal ended the call; `cause` is its reason.
 * - `badSource`: the data of a peer source cannot be used.
 */
export type HostNetworkErrorCode = 'closed' | 'aborted' | 'badSource';

/** Error class of this library. Errors of the host and of files pass unchanged. */
export class HostNetworkError extends Error {
  override readonly name = 'HostNetworkError';

  constructor(
    readonly code: HostNetworkErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
