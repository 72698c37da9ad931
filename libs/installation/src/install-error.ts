/** Reason of a failure, which also says whether the node was changed. */
export type InstallErrorCode =
  /** A variable or parameter is invalid; nothing was changed. */
  | 'usage'
  /** Nothing was changed. */
  | 'refused'
  /** Another installation or upgrade of this node is in progress. */
  | 'busy'
  /** Another program changed the node meanwhile. */
  | 'changed'
  | 'stepFailed'
  /** The started daemon failed its health check. */
  | 'unproven'
  /** The manifest or the journal cannot be parsed, because its content is not in the form that this program writes. */
  | 'unreadable'
  /** Undoing failed, too; the next install command retries. */
  | 'notUndone';

/** No message contains a secret value. */
export class InstallError extends Error {
  override readonly name = 'InstallError';

  constructor(
    readonly code: InstallErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
