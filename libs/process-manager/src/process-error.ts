import { errnoOf, messageOf, quoteText } from '@wins/base';
import { fileSystemError, TrustedFileError, type TrustRule } from '@wins/trusted-files';
import type { PathRule } from './policy/parsed-path.js';

/** Translates a file-system error; returns a `ProcessError` unchanged. */
export function fileError(
  error: unknown,
  tried: string,
  path: string,
  otherwise: ProcessErrorCode,
): ProcessError {
  if (error instanceof ProcessError) return error;
  const known = error instanceof TrustedFileError ? error : undefined;
  const found = known?.found ?? errnoOf(error) ?? messageOf(error);
  const message = `${tried} ${quoteText(path)}: ${found}`;
  const facts = { cause: known?.cause ?? error, path };
  switch (known?.code) {
    case 'notFound':
      return new ProcessError('notFound', message, facts);
    case 'notTrusted': {
      const rule = known.rule ?? 'A7 symbolic link';
      return new ProcessError('pathNotTrusted', message, { ...facts, rule });
    }
    case 'notRegularFile':
      return new ProcessError('pathNotTrusted', message, {
        ...facts,
        rule: 'A7 not a regular file',
      });
    default:
      return new ProcessError(otherwise, message, facts);
  }
}

/** Rules by which a start is refused, besides those of the spelling of its paths and of the trust in its files. */
export const START_RULES = [
  'A1 nothing is allowed',
  'A15 not listed',
  'A16 checksum differs',
  'A16 copy changed',
  'A17 digest not pinned',
  'A17 not signed',
  'A18 directory not listed',
  'A21 guarded variable',
  'A40 arguments not allowed',
  'A40 variable not granted',
  'A50 request too large',
  'A55 processes of one client',
  'A60 caller not allowed',
  'A118 limits not allowed',
  'A120 detached not granted',
  'A130 files not granted',
] as const;

/**
 * Rules by which this library refuses requests, numbered as in docs/threat-model.md. The list is closed, so that a rule
 * can be a metric label. Rules appear in records, never in messages.
 */
export type ProcessRule =
  | PathRule
  | TrustRule
  | (typeof START_RULES)[number]
  | 'A35 run of another connection';

/**
 * Reason of a refusal or failure. The list is closed, so that a switch over it can be exhaustive. Of a request:
 *
 * - `invalidPath`: no absolute path of a file in its canonical spelling.
 * - `invalidArgument`: a part of the request, or an option, is out of its range.
 * - `pathNotAllowed`: the program is not in `allowed`.
 * - `callerNotAllowed`: its entry allows other callers.
 * - `argumentsNotAllowed`, `envNotAllowed`, `directoryNotAllowed`, `limitsNotAllowed`, `filesNotAllowed`, `detachedNotAllowed`: its entry does not
 *   grant this part of the request.
 * - `digestNotPinned`, `notSigned`: the content is not one that its entry pins, or not signed by whom its entry names.
 * - `checksumMismatch`: the file here differs from the digest in the request.
 * - `pathNotTrusted`: others can replace the file, or it is no regular file; `rule` says which.
 * - `notFound`, `directoryNotFound`: the file, the run or the working directory does not exist.
 * - `notOwner`: the run belongs to another owner.
 * - `leaseHeld`: another owner holds the lease of the run.
 * - `alreadyRunning`: a run has this name.
 * - `tooManyProcesses`: a limit of runs is reached, or this client's share of it.
 * - `tooManyChanges`: files of the run change faster than allowed.
 * - `aborted`: the signal or the owner ended the request; `cause` is the reason.
 *
 * Of the host or the manager:
 *
 * - `stagingFailed`: the verified copy of the program could not be made.
 * - `notExecutable`, `spawnFailed`: the system cannot run this file, or could not start it now.
 * - `limitsUnavailable`: the system cannot enforce the limits.
 * - `portsNotOpened`: the firewall did not open the ports of the run.
 * - `auditUnavailable`: the decision could not be recorded, so nothing was done.
 * - `stateUnavailable`: the state directory cannot be read or written.
 * - `hostUnsupported`: no `host` was given.
 * - `shuttingDown`: the manager closes.
 * - `unknown`: any other error; see `cause`.
 */
export type ProcessErrorCode =
  | ProcessRefusalCode
  | 'aborted'
  | 'alreadyRunning'
  | 'auditUnavailable'
  | 'checksumMismatch'
  | 'directoryNotFound'
  | 'hostUnsupported'
  | 'invalidArgument'
  | 'invalidPath'
  | 'leaseHeld'
  | 'limitsUnavailable'
  | 'notFound'
  | 'pathNotAllowed'
  | 'portsNotOpened'
  | 'shuttingDown'
  | 'spawnFailed'
  | 'stagingFailed'
  | 'stateUnavailable'
  | 'tooManyChanges'
  | 'tooManyProcesses'
  | 'unknown';

/** Reason of a refusal of a listed program, or of a known run: it does not grant what was asked. */
export type ProcessRefusalCode =
  | 'argumentsNotAllowed'
  | 'callerNotAllowed'
  | 'detachedNotAllowed'
  | 'digestNotPinned'
  | 'directoryNotAllowed'
  | 'envNotAllowed'
  | 'filesNotAllowed'
  | 'limitsNotAllowed'
  | 'notExecutable'
  | 'notOwner'
  | 'notSigned'
  | 'pathNotTrusted';

const PASSING: readonly ProcessErrorCode[] = [
  'alreadyRunning',
  'tooManyProcesses',
  'notFound',
  'directoryNotFound',
  'stagingFailed',
  'spawnFailed',
  'auditUnavailable',
  'stateUnavailable',
  'unknown',
];

/** True if a start that was refused for this reason may succeed later. After any other refusal there is no retry. */
export function mayPass(code: ProcessErrorCode): boolean {
  return PASSING.includes(code);
}

/** Facts about a failure, for callers that write their own message. Absent fields do not apply. */
export interface ProcessErrorDetails {
  /** Error of the operating system or another layer. */
  readonly cause?: unknown;
  /** Path as the caller spelt it, or canonicalised. */
  readonly path?: string | undefined;
  /** Rule of the threat model that decided; for records, never for messages. */
  readonly rule?: ProcessRule | undefined;
  /** Name of the refused variable, as the client spelt it. */
  readonly variable?: string | undefined;
  /** `ManagedProcess.mark` of the run. */
  readonly mark?: string | undefined;
}

/** The only error class of this library: branch on `code`, show `message`, log `cause`. */
export class ProcessError extends Error {
  readonly code: ProcessErrorCode;
  readonly path: string | undefined;
  readonly rule: ProcessRule | undefined;
  readonly variable: string | undefined;
  readonly mark: string | undefined;

  constructor(code: ProcessErrorCode, message: string, details: ProcessErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ProcessError';
    this.code = code;
    this.path = details.path;
    this.rule = details.rule;
    this.variable = details.variable;
    this.mark = details.mark;
  }
}

/** Returns the cause of a file-system error in words. */
export function foundIn(error: unknown, path: string): string {
  const known = fileSystemError(error, 'use', path);
  return known instanceof TrustedFileError ? known.found : messageOf(error);
}

export function asProcessError(error: unknown, tried = 'start a run'): ProcessError {
  if (error instanceof ProcessError) return error;
  return new ProcessError('unknown', `cannot ${tried}: ${messageOf(error)}`, { cause: error });
}
