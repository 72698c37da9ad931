/** Every way in which this library refuses or fails; the list is closed. */
export type EventRingErrorCode = 'invalidOption' | 'unreadable';

/** The one error of this library: branch on `code`, show `message`, log `cause`. */
export class EventRingError extends Error {
  readonly code: EventRingErrorCode;

  constructor(code: EventRingErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EventRingError';
    this.code = code;
  }
}
