/** A closed list, so that a switch over it can be exhaustive. */
export type PipeErrorCode =
  /** Nothing serves the pipe, or a directory in its path does not exist. */
  | 'notFound'
  /** The pipe is served, but accepts no further client now. */
  | 'busy'
  /** This user may not open, create or replace the pipe. */
  | 'accessDenied'
  /** The name is in use: by a live listener, or by a file that is not a socket. */
  | 'inUse'
  /** One attempt to connect exceeded its time-out. */
  | 'timeout'
  /** The signal aborted; its reason is the `cause`. */
  | 'aborted'
  /** One side has ended the connection. */
  | 'closed'
  /** The endpoint cannot be protected as required, or its server is not trusted. */
  | 'securityUnavailable'
  /** The text does not name a local pipe. */
  | 'invalidName'
  /** Any other failure; `cause` is the platform's error. */
  | 'unknown';

/** Facts about a failure. Absent fields do not apply. */
export interface PipeErrorDetail {
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

  constructor(code: PipeErrorCode, message: string, detail: PipeErrorDetail = {}) {
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
