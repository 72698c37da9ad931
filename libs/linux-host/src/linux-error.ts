/** What kind of failure it was. */
export type LinuxErrorCode =
  /** Not Linux, or the foreign function interface cannot be loaded here. */
  | 'unavailable'
  /** The descriptor is no Unix socket that somebody connected to. */
  | 'no-peer';

/** Every failure of this library. The message says what was tried, on what, what was found and what was wanted. */
export class LinuxError extends Error {
  override readonly name = 'LinuxError';

  constructor(
    readonly code: LinuxErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
