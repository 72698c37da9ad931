/** `closed`: the network is no longer managed. `badSource`: the data of a peer source is unusable. */
export type HostNetworkErrorCode = 'closed' | 'badSource';

/** Error class of this library. Errors of the host and of files pass unchanged. */
export class HostNetworkError extends Error {
  override readonly name = 'HostNetworkError';

  constructor(
    readonly code: HostNetworkErrorCode,
    message: string,
  ) {
    super(message);
  }
}
