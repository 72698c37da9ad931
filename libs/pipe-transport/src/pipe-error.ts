/** Kinds of failure of a pipe; the list is closed, so that a switch over it can be exhaustive. */
export type PipeErrorCode =
  /** Nothing serves the pipe, or a directory on the way to it does not exist. */
  | 'notFound'
  /** The pipe is served, but takes no further client now. */
  | 'busy'
  /** This user may not open, create or replace it. */
  | 'accessDenied'
  /** The name is taken: by a live listener, or by something that is not a socket. */
  | 'inUse'
  /** One attempt to connect did not end within its time. */
  | 'timeout'
  /** The signal of the caller has ended it; its reason is the `cause`. */
  | 'aborted'
  /** The other side, or this one, has ended the connection. */
  | 'closed'
  /** The endpoint cannot be protected as required, or is not served by whom it should be, so it was not opened. */
  | 'securityUnavailable'
  /** The text does not name a local pipe. */
  | 'invalidName'
  /** Anything else; `cause` holds what the platform said. */
  | 'unknown';

/** The parts of a {@link PipeError} beside its code and message. */
export interface PipeErrorDetail {
  /** The pipe as the caller named it. */
  readonly pipe?: string | undefined;
  /** Where the operating system was asked for it. */
  readonly address?: string | undefined;
  /** With `invalidName`: what is wrong with the name, in a few words. */
  readonly found?: string | undefined;
  /** The error underneath, kept as it was. */
  readonly cause?: unknown;
}

/** The one error of this library: a closed `code` for programs, a message for people. */
export class PipeError extends Error {
  override readonly name = 'PipeError';
  readonly code: PipeErrorCode;
  readonly pipe: string | undefined;
  readonly address: string | undefined;
  readonly found: string | undefined;

  constructor(code: PipeErrorCode, message: string, detail: PipeErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.pipe = detail.pipe;
    this.address = detail.address;
    this.found = detail.found;
  }
}

/** The longest time a Node timer can wait; it fires at once when asked for more. */
const LARGEST = 2 ** 31 - 1;

/**
 * Lets an option's value pass when it is a whole number from `least` to 2^31 - 1.
 *
 * @throws RangeError otherwise: a mistake of the calling program, not of its user.
 */
export function wholeNumber(option: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= LARGEST) return value;
  throw new RangeError(`${option} is ${value}; wanted a whole number from ${least} to ${LARGEST}`);
}
