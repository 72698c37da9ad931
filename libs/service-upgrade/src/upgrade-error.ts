/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `refused`: the upgrade is not allowed or not possible; nothing was changed.
 * - `busy`: another upgrade of this service is in progress, or was undone and the service must restart.
 * - `fileFailed`: a file could not be read or written.
 * - `serviceFailed`: the service manager refused, or the service did not follow a command.
 * - `programFailed`: a program could not be run, or its output was unexpected.
 * - `unhealthy`: the started daemon is not the expected one, or does not serve.
 * - `aborted`: the caller's signal ended the call; `cause` is its reason.
 */
export type UpgradeErrorCode =
  | 'refused'
  | 'busy'
  | 'fileFailed'
  | 'serviceFailed'
  | 'programFailed'
  | 'unhealthy'
  | 'aborted';

export function abortedBy({ reason }: AbortSignal, tried: string): UpgradeError {
  return new UpgradeError('aborted', `cannot ${tried}: it was aborted`, { cause: reason });
}

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
