import type { ServiceError, status } from '@grpc/grpc-js';

/** Key of the trailing metadata with the daemon's error code, such as `pathNotAllowed`. Go daemons send none. */
export const ERROR_METADATA_KEY = 'wins-error';

/** Start of the daemon's error message for a request with fields that the daemon does not know and must not ignore. */
export const UNKNOWN_PARTS = 'the request has parts that this daemon does not know';

/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `unavailable`: no daemon could be reached, `dial` refused its server, or the connection broke (`isConnectionLost`).
 * - `refused`: the policy of the daemon forbids the call; also the `invalid path` of a Go daemon.
 * - `notFound`: there is no such file or run.
 * - `alreadyExists`: the program is already running, or the name is taken.
 * - `invalidRequest`: the request, or an option of the client, is invalid.
 * - `aborted`: the caller's signal or `close()` ended the call.
 * - `unimplemented`: the daemon does not know the call: it is older, or a Go daemon.
 * - `deadlineExceeded`: no answer arrived within `answerTimeoutMs`, or the daemon timed the call out.
 * - `failedPrecondition`: the state of the daemon forbids the call, or the client is closed.
 * - `internal`: the daemon failed.
 * - `unknown`: any other failure; `grpcCode` is its status.
 */
export type WinsClientErrorCode =
  | 'unavailable'
  | 'refused'
  | 'notFound'
  | 'alreadyExists'
  | 'invalidRequest'
  | 'aborted'
  | 'unimplemented'
  | 'deadlineExceeded'
  | 'failedPrecondition'
  | 'internal'
  | 'unknown';

/** Facts of a `WinsClientError` besides its code. */
export interface WinsClientErrorDetails {
  /** Method, such as `Start`; empty when the error is about the client itself. */
  readonly method?: string | undefined;
  /** Address of the pipe or socket; empty when unknown. */
  readonly address?: string | undefined;
  /** Description of the failure: the daemon's own words if it answered, otherwise the client's. */
  readonly details: string;
  /** True when an open connection broke; only with `unavailable`. */
  readonly isConnectionLost?: boolean | undefined;
  /** Status of the call, if it got one. */
  readonly grpcCode?: status | undefined;
  /** Error code of the daemon (`ERROR_METADATA_KEY`), if any. `streamRefused` if it refused to process the request (RFC 9113, section 8.7). */
  readonly reason?: string | undefined;
  readonly cause?: unknown;
}

/** The only error class of this library. */
export class WinsClientError extends Error {
  override readonly name = 'WinsClientError';
  readonly code: WinsClientErrorCode;
  /** Empty when the error is about the client itself. */
  readonly method: string;
  readonly address: string;
  /** The daemon's own words if it answered, otherwise the client's. */
  readonly details: string;
  /** True when an open connection broke; only with `unavailable`. */
  readonly isConnectionLost: boolean;
  readonly grpcCode: status | undefined;
  /** Error code of the daemon, such as `pathNotAllowed`, if it sent one. */
  readonly reason: string | undefined;

  constructor(code: WinsClientErrorCode, known: WinsClientErrorDetails) {
    const { method = '', address = '', details, cause } = known;
    const tried = method === '' ? '' : `${method} at ${address}: `;
    super(tried + details, cause === undefined ? undefined : { cause });
    this.code = code;
    this.method = method;
    this.address = address;
    this.details = details;
    this.isConnectionLost = known.isConnectionLost ?? false;
    this.grpcCode = known.grpcCode;
    this.reason = known.reason;
  }

  /**
   * True when a daemon was there and is ending or gone: it was shutting down, it refused to process the request, or an open connection to it
   * broke. Of `aborted`, the same of its cause.
   */
  get isDaemonLost(): boolean {
    if (this.code === 'aborted')
      return this.cause instanceof WinsClientError && this.cause.isDaemonLost;
    const isRefused = this.reason === 'shuttingDown' || this.reason === 'streamRefused';
    return isRefused || this.isConnectionLost;
  }
}

/** Literals, because importing the names would load all of grpc-js. */
const INVALID_ARGUMENT = 3;
const INTERNAL = 13;
const UNAVAILABLE = 14;

// https://grpc.io/docs/guides/status-codes/
const CODES: Readonly<Partial<Record<number, WinsClientErrorCode>>> = {
  1: 'aborted', // CANCELLED
  [INVALID_ARGUMENT]: 'invalidRequest',
  4: 'deadlineExceeded',
  5: 'notFound',
  6: 'alreadyExists',
  7: 'refused', // permission denied
  9: 'failedPrecondition',
  11: 'invalidRequest', // out of range
  12: 'unimplemented',
  [INTERNAL]: 'internal',
  [UNAVAILABLE]: 'unavailable',
  15: 'internal', // data loss
  16: 'refused', // unauthenticated
};

// The Go daemon's words for a refused program, by which Go clients recognise a refusal.
const REFUSAL = /^invalid path/;

// grpc-js text for a request that it cannot encode and so never sends, such as one with a port of 2^40.
const NOT_ENCODED = /^Request message serialization failure/;

// grpc-js text for a connection that broke during a call. A status from the daemon reads differently. The pattern may
// also match the text for a connection that was never made, which `NEVER_CONNECTED` excludes.
const LOST_CONNECTION =
  /^Connection dropped|^Write error|^Write failed|^read E|transport is closing|triggered by internal client error|\b(?:ECONNRESET|EPIPE)\b/;
const NEVER_CONNECTED = /^No connection established/;
// grpc-js text for REFUSED_STREAM. By then, grpc-js has already retried the call once.
const REFUSED = /^Stream refused by server/;

const CLOSED_EARLY = 'its server closed the connection before it spoke HTTP/2';
/** grpc-js texts for a connection that was never made, with their meanings. The first match counts. */
const NO_CONNECTION: readonly (readonly [RegExp, string])[] = [
  [/\bENOENT\b/, 'there is no such pipe'],
  [/\bECONNREFUSED\b/, 'no process serves it'],
  [/\b(?:EACCES|EPERM)\b/, 'this user may not open it'],
  [/Protocol error/, 'its server does not speak HTTP/2'],
  [/\b(?:ECONNRESET|EPIPE)\b|closed|end of file|dropped|Failed to connect/i, CLOSED_EARLY],
];
const QUOTED = /Last error: (.*?)(?: \([^()]*Z\))?\. Resolution note: .*$/s;

/** Returns false for a Node error, such as an error after the reader abandoned the stream. */
export function isServiceError(error: Error): error is ServiceError {
  return 'metadata' in error && 'details' in error;
}

/** The details are sometimes more exact than the status. */
function codeOfStatus(code: number, details: string): WinsClientErrorCode {
  if (code === INVALID_ARGUMENT && REFUSAL.test(details)) return 'refused';
  if (code === INTERNAL && NOT_ENCODED.test(details)) return 'invalidRequest';
  return CODES[code] ?? 'unknown';
}

/** Call only for a status without the daemon's error code. */
function isLostConnection(code: number, details: string): boolean {
  const brokenOff = code === UNAVAILABLE || code === INTERNAL;
  return brokenOff && !NEVER_CONNECTED.test(details) && LOST_CONNECTION.test(details);
}

/** A Go daemon's text that ends with a blank counts as absent, because HTTP/2 libraries drop such a header field. */
function detailsOf({ code, details }: ServiceError): string {
  if (details.trim() !== '') return details;
  return `the call ended with gRPC status ${code}, and the daemon gave no reason`;
}

/** Call only for a status without the daemon's error code. */
function isUnprocessed(code: number, details: string): boolean {
  return code === UNAVAILABLE && REFUSED.test(details);
}

export function fromServiceError(
  error: ServiceError,
  call: { readonly method: string; readonly address: string },
): WinsClientError {
  const reason = error.metadata.get(ERROR_METADATA_KEY)[0]?.toString();
  const facts = { ...call, details: detailsOf(error), grpcCode: error.code, cause: error };
  if (reason === undefined && isLostConnection(error.code, error.details))
    return new WinsClientError('unavailable', { ...facts, isConnectionLost: true });
  if (reason === undefined && isUnprocessed(error.code, error.details)) {
    const details = 'the daemon refused the request and did not process it';
    return new WinsClientError('unavailable', { ...facts, details, reason: 'streamRefused' });
  }
  const isNever = reason === undefined && NEVER_CONNECTED.test(error.details);
  return new WinsClientError(codeOfStatus(error.code, error.details), {
    ...facts,
    ...(reason !== undefined && { reason }),
    ...(isNever && { details: `no connection: ${whyNotConnected(error.details)}` }),
  });
}

function whyNotConnected(details: string): string {
  const known = NO_CONNECTION.find(([words]) => words.test(details))?.[1];
  return known ?? QUOTED.exec(details)?.[1] ?? 'no reason was given';
}
