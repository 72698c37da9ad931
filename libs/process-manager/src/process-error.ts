/** Every way in which this library refuses or fails; the list is closed. */
export type ProcessErrorCode =
  | 'aborted'
  | 'alreadyRunning'
  | 'argumentsNotAllowed'
  | 'auditUnavailable'
  | 'callerNotAllowed'
  | 'checksumMismatch'
  | 'digestNotPinned'
  | 'directoryNotAllowed'
  | 'directoryNotFound'
  | 'envNotAllowed'
  | 'hostUnsupported'
  | 'invalidArgument'
  | 'invalidPath'
  | 'leaseHeld'
  | 'notFound'
  | 'notOwner'
  | 'pathNotAllowed'
  | 'pathNotTrusted'
  | 'portsNotOpened'
  | 'shuttingDown'
  | 'spawnFailed'
  | 'stagingFailed'
  | 'stateUnavailable'
  | 'tooManyProcesses'
  | 'unknown';

/** Facts that go with an error; each is absent when it does not apply. */
export interface ProcessErrorDetails {
  /** What the operating system or another layer said. */
  readonly cause?: unknown;
  /** The path in question, as the caller spelt it or as it was canonicalised. */
  readonly path?: string;
  /** The rule that refused, for example `A5 trailing dot or space`: for records, never for a message. */
  readonly rule?: string;
  /** The mark of the run in question. */
  readonly mark?: string;
}

/** The one error of this library: branch on `code`, show `message`, log `cause`. */
export class ProcessError extends Error {
  readonly code: ProcessErrorCode;
  readonly path: string | undefined;
  readonly rule: string | undefined;
  readonly mark: string | undefined;

  constructor(code: ProcessErrorCode, message: string, details: ProcessErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ProcessError';
    this.code = code;
    this.path = details.path;
    this.rule = details.rule;
    this.mark = details.mark;
  }
}
