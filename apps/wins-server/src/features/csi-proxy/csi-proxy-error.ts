/** What went wrong with csi-proxy. */
export type CsiProxyErrorCode =
  /** The archive could not be fetched. */
  | 'downloadFailed'
  /** What was fetched has another digest than the config, or the first download of this version, had. */
  | 'digestMismatch'
  /** The archive is none, is too large, or holds something else than one program. */
  | 'archiveRefused'
  /** A file or folder could not be read, written or trusted. */
  | 'fileFailed'
  /** The service manager refused, or the service did not do as it was told. */
  | 'serviceFailed'
  /** The service runs, and its pipe does not appear; what was there before was put back, if there was something. */
  | 'notServing'
  /** The component is closed. */
  | 'closed';

/** The one error of this library. Its message says what was tried, on what, what was found and what was wanted. */
export class CsiProxyError extends Error {
  override readonly name = 'CsiProxyError';

  constructor(
    readonly code: CsiProxyErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
