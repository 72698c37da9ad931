/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `notFound`: nothing serves the pipe, or a directory in its path does not exist.
 * - `busy`: the pipe accepted no client within the time-out; for a listener, `maxConnections` are open.
 * - `accessDenied`: this user may not open, create or replace the pipe.
 * - `inUse`: another listener serves the pipe, or its file is not a socket.
 * - `timeout`: one attempt got no answer in time.
 * - `aborted`: the signal ended the call; `cause` is its reason.
 * - `closed`: one side has ended the connection.
 * - `securityUnavailable`: the endpoint cannot be protected as required, or its server is not trusted.
 * - `invalidName`: the text does not name a local pipe.
 * - `unknown`: any other failure; `cause` is the error of the system.
 */
export type PipeErrorCode =
  | 'notFound'
  | 'busy'
  | 'accessDenied'
  | 'inUse'
  | 'timeout'
  | 'aborted'
  | 'closed'
  | 'securityUnavailable'
  | 'invalidName'
  | 'unknown';

/** Facts about a failure. Absent fields do not apply. */
export interface PipeErrorDetails {
  /** Name that the caller gave. */
  readonly pipe?: string | undefined;
  readonly address?: string | undefined;
  /** With `invalidName`: the fault, in a few words. */
  readonly found?: string | undefined;
  readonly cause?: unknown;
}

/** The only error class of this library. */
export class PipeError extends Error {
  override readonly name = 'PipeError';
  readonly code: PipeErrorCode;
  /** Name that the caller gave. */
  readonly pipe: string | undefined;
  /** `\\.\pipe\NAME` or the path of a socket, where known. */
  readonly address: string | undefined;
  /** With `invalidName`: the fault, in a few words. */
  readonly found: string | undefined;

  constructor(code: PipeErrorCode, message: string, detail: PipeErrorDetails = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.pipe = detail.pipe;
    this.address = detail.address;
    this.found = detail.found;
  }
}

/** Maximum delay of a Node timer; a longer one fires at once. */
const LARGEST = 2 ** 31 - 1;

/** @throws RangeError unless `value` is a whole number from `least` to 2^31 - 1. */
export function wholeNumber(option: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= LARGEST) return value;
  throw new RangeError(`${option} is ${value}; wanted a whole number from ${least} to ${LARGEST}`);
}
