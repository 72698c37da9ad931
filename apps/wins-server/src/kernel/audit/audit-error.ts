/** Every way in which this library refuses or fails; the list is closed. */
export type AuditErrorCode = 'closed' | 'invalidOption' | 'invalidRecord' | 'unavailable';

/** The one error of this library: branch on `code`, show `message`, log `cause`. */
export class AuditError extends Error {
  readonly code: AuditErrorCode;

  constructor(code: AuditErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AuditError';
    this.code = code;
  }
}
