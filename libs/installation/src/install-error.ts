/** Kinds of failure of an installation. */
export type InstallErrorCode =
  /** A variable or parameter is invalid: nothing was touched. */
  | 'usage'
  /** It must not be done: nothing was touched. */
  | 'refused'
  /** Another installation or upgrade of this node is under way. */
  | 'busy'
  /** Something else changed the node meanwhile. */
  | 'changed'
  /** A step could not be done. */
  | 'stepFailed'
  /** The daemon that was started did not prove that it serves. */
  | 'unproven'
  /** A file of the installation's own folder is not what this program wrote. */
  | 'unreadable'
  /** It failed, and so did undoing it: the next run tries again. */
  | 'notUndone';

/** The one error of this library. Its message says what was tried, on what, what was found and what was wanted; no value of a secret is in it. */
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
