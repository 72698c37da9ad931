/** Every way in which this library refuses or fails; the list is closed. */
export type TracingErrorCode = 'invalidEndpoint';

/** The one error of this library: branch on `code`, show `message`. */
export class TracingError extends Error {
  override readonly name = 'TracingError';
  readonly code: TracingErrorCode;

  constructor(code: TracingErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
