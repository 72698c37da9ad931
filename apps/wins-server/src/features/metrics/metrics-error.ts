/**
 * Why metrics cannot be served: the address is invalid or not of the loopback (`invalidAddress`, `remoteAddress`), or the system does not
 * give it (`listenFailed`).
 */
export type MetricsErrorCode = 'invalidAddress' | 'remoteAddress' | 'listenFailed';

/** An error of the metrics. */
export class MetricsError extends Error {
  override readonly name = 'MetricsError';
  readonly code: MetricsErrorCode;

  constructor(code: MetricsErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
