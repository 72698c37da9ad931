export type InstallErrorCode =
  /** A variable or parameter is invalid; nothing was changed. */
  | 'usage'
  /** The installation is not allowed; nothing was changed. */
  | 'refused'
  /** Another installation or upgrade of this node is in progress. */
  | 'busy'
  /** Another program changed the node during the installation. */
  | 'changed'
  | 'stepFailed'
  /** The daemon was started, but failed its health check. */
  | 'unproven'
  /** A file in the installation's own folder was not written by this program. */
  | 'unreadable'
  /** The installation failed, and so did undoing it; the next install command retries. */
  | 'notUndone';

/** The error class of this library. No message contains a secret value. */
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
