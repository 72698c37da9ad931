/** Kinds of failure of an upgrade. */
export type UpgradeErrorCode =
  /** The upgrade must not be done: nothing was touched. */
  | 'refused'
  /** Another upgrade of this service is under way. */
  | 'busy'
  /** A file could not be read, written or replaced. */
  | 'fileFailed'
  /** The service manager refused, or the service did not do as it was told. */
  | 'serviceFailed'
  /** A program could not be run, or said something else than it should. */
  | 'programFailed'
  /** The daemon that was started is not the wanted one, or does not serve. */
  | 'unhealthy';

/** The one error of this application. Its message says what was tried, on what, what was found and what was wanted. */
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
