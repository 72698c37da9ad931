/**
 * Reason of a failure, which also says whether the node was changed.
 *
 * - `usage`: a variable or parameter is invalid, and the message names it; nothing was changed.
 * - `refused`: the state of the node cannot be trusted or read, or is too large for a journal; nothing was changed.
 * - `busy`: another installation or upgrade of this node is in progress.
 * - `changed`: another program or user changed the node after the inspection, or could redirect the change.
 * - `stepFailed`: a step could not be done, or changed nothing.
 * - `unproven`: the started daemon failed its health check.
 * - `unreadable`: the journal or the manifest does not have the form that this library writes.
 * - `notUndone`: undoing failed too; the journal stays, and the next command tries again.
 */
export type InstallErrorCode =
  | 'usage'
  | 'refused'
  | 'busy'
  | 'changed'
  | 'stepFailed'
  | 'unproven'
  | 'unreadable'
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
