/** Reason of a failure. The list is closed, so that a switch over it can be exhaustive. */
export type UpgradeErrorCode =
  /** Nothing was changed. */
  | 'refused'
  /** Another upgrade of this service is in progress. */
  | 'busy'
  | 'fileFailed'
  /** The service manager refused, or the service did not follow a command. */
  | 'serviceFailed'
  /** A program could not be run, or its output was unexpected. */
  | 'programFailed'
  /** The started daemon is not the expected one, or does not serve. */
  | 'unhealthy';

/** The message contains the operation, its object, the finding and the expectation. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError';

  constructor(
    readonly code: UpgradeErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
