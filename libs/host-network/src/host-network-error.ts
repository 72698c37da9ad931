/** `closed`: it keeps no routes any more. `badSource`: what a source of peers told cannot be used. */
export type HostNetworkErrorCode = 'closed' | 'badSource';

/** The error of this library. Errors of the host and of files come through as they are. */
export class HostNetworkError extends Error {
  override readonly name = 'HostNetworkError';

  constructor(
    readonly code: HostNetworkErrorCode,
    message: string,
  ) {
    super(message);
  }
}
