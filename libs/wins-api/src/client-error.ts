import type { ServiceError, status } from '@grpc/grpc-js';

/**
 * The key of the trailing metadata in which the daemon names the reason of an error, in the words of the library that
 * raised it: `pathNotAllowed`. Go daemons send none.
 */
export const ERROR_METADATA_KEY = 'wins-error';

/** The beginning of a daemon's refusal of a request that it must not shorten. */
export const UNKNOWN_PARTS = 'the request has parts that this daemon does not know';

/** Kinds of failure of a call. */
export type WinsClientErrorCode =
  /** No daemon could be reached, or the connection broke. */
  | 'unavailable'
  /** The daemon's policy forbids it. */
  | 'refused'
  | 'notFound'
  | 'alreadyExists'
  /** The request, or an option of the client, is invalid. */
  | 'invalidRequest'
  /** The caller's signal, or `close()`, ended the call. */
  | 'aborted'
  /** The daemon does not know the method: it is older, or the original. */
  | 'unimplemented'
  /** There was no answer in time: `answerTimeoutMs`, or the daemon gave the call up. */
  | 'deadlineExceeded'
  | 'failedPrecondition'
  /** The daemon failed. */
  | 'internal'
  | 'unknown';

/** Facts of a `WinsClientError` beside its code. */
export interface WinsClientErrorDetails {
  /** The method that was called, `Start`; empty when the error is about the client itself. */
  readonly method?: string;
  /** The address that was called. */
  readonly address?: string;
  /** The finding: the daemon's own words where it answered; ours where there was no connection. */
  readonly details: string;
  /** Whether the connection broke after it had been made; else it never was. Only ever true with `unavailable`. */
  readonly connectionLost?: boolean;
  /** The gRPC status, if there was one. */
  readonly grpcCode?: status;
  /** The reason in the daemon's words (`ERROR_METADATA_KEY`), if it gave one. */
  readonly reason?: string;
  readonly cause?: unknown;
}

/** The one error of this library. Its message says what was tried, where, and what was found. */
export class WinsClientError extends Error {
  override readonly name = 'WinsClientError';
  readonly code: WinsClientErrorCode;
  readonly method: string;
  readonly address: string;
  readonly details: string;
  readonly connectionLost: boolean;
  readonly grpcCode: status | undefined;
  readonly reason: string | undefined;

  constructor(code: WinsClientErrorCode, known: WinsClientErrorDetails) {
    const { method = '', address = '', details, cause } = known;
    const tried = method === '' ? '' : `${method} at ${address}: `;
    super(tried + details, cause === undefined ? undefined : { cause });
    this.code = code;
    this.method = method;
    this.address = address;
    this.details = details;
    this.connectionLost = known.connectionLost ?? false;
    this.grpcCode = known.grpcCode;
    this.reason = known.reason;
  }
}

/** The statuses of gRPC by number: their names would bring all of grpc-js along with this class. */
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

// How daemons word the refusal of a program: as the original does, for its clients know no other sign.
const REFUSAL = /^invalid path/;

// How grpc-js words a request that cannot be encoded, such as one with a port of 2^40. It never left.
const NOT_ENCODED = /^Request message serialization failure/;

// How grpc-js words the end of a connection under a call. A status that the daemon sent, and a connection that was never
// made ("No connection established"), read differently.
const LOST_CONNECTION =
  /^Connection dropped|^Stream refused|^Write error|^Write failed|^read E|transport is closing|triggered by internal client error|\b(?:ECONNRESET|EPIPE)\b/;
const NEVER_CONNECTED = /^No connection established/;

/** Texts of grpc-js for a connection that was never made, and their meaning. The first that is found counts. */
const NO_CONNECTION: readonly (readonly [RegExp, string])[] = [
  [/\bENOENT\b/, 'there is no such pipe'],
  [/\bECONNREFUSED\b/, 'no process serves it'],
  [/\b(?:EACCES|EPERM)\b/, 'this user may not open it'],
  [/Protocol error/, 'its server does not speak HTTP/2'],
  [
    /\b(?:ECONNRESET|EPIPE)\b|closed|end of file|dropped|Failed to connect/i,
    'its server closed the connection before it spoke HTTP/2',
  ],
];
const QUOTED = /Last error: (.*?)(?: \([^()]*Z\))?\. Resolution note: .*$/s;

/** Tells the error of a gRPC call from one that Node raises, such as that of a stream whose reader left. */
export function isServiceError(error: Error): error is ServiceError {
  return 'metadata' in error && 'details' in error;
}

/** Maps a status to a code; the details are sometimes more exact. */
function codeOfStatus(code: number, details: string): WinsClientErrorCode {
  if (code === INVALID_ARGUMENT && REFUSAL.test(details)) return 'refused';
  if (code === INTERNAL && NOT_ENCODED.test(details)) return 'invalidRequest';
  return CODES[code] ?? 'unknown';
}

/** Whether a status without a reason of a daemon tells of a connection that broke under its call. */
function isLostConnection(code: number, details: string): boolean {
  const brokenOff = code === UNAVAILABLE || code === INTERNAL;
  return brokenOff && !NEVER_CONNECTED.test(details) && LOST_CONNECTION.test(details);
}

/** Translates the error of a gRPC call. */
export function fromServiceError(
  error: ServiceError,
  call: { readonly method: string; readonly address: string },
): WinsClientError {
  const reason = error.metadata.get(ERROR_METADATA_KEY)[0]?.toString();
  const facts = { ...call, details: error.details, grpcCode: error.code, cause: error };
  if (reason === undefined && isLostConnection(error.code, error.details))
    return new WinsClientError('unavailable', { ...facts, connectionLost: true });
  return new WinsClientError(codeOfStatus(error.code, error.details), {
    ...facts,
    ...(reason === undefined ? {} : { reason }),
    ...(reason === undefined && NEVER_CONNECTED.test(error.details)
      ? { details: `no connection: ${whyNotConnected(error.details)}` }
      : {}),
  });
}

function whyNotConnected(details: string): string {
  const known = NO_CONNECTION.find(([words]) => words.test(details))?.[1];
  return known ?? QUOTED.exec(details)?.[1] ?? 'no reason was given';
}
