import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { DEFAULT_LIMITS, type Http2Limits } from './connection-limits.js';
import type { EndReason } from './end-reason.js';
import { Connection } from './http2-connection.js';
import type { AnswerHeaders, PeerAddress } from './http2-stream.js';
import { NO_POOL, type OctetPool } from './octet-pool.js';
import type { RequestHeaders } from './request-headers.js';
import { SegmentPool } from './segment-pool.js';
import type { ServedStream } from './served-stream.js';

/**
 * Options of {@link serveHttp2Connection}. A failure of `onGreeted`, `onEnd` or `onFailure` itself is a warning of the process, with the code
 * `WINS_CALLBACK_FAILED`.
 */
export interface Http2ConnectionOptions {
  /** Called once, after the preface and the first SETTINGS of the client. */
  readonly onGreeted?: (() => unknown) | undefined;
  /** Called for each call once its headers have arrived and are valid. An error, or a rejection of its promise, ends the connection. */
  readonly onStream: (stream: ServedStream, headers: RequestHeaders) => unknown;
  /**
   * Called once, after the connection has ended and released its memory. The socket may stay open for `lingerMs` more.
   */
  readonly onEnd?: ((reason: EndReason) => unknown) | undefined;
  /**
   * Receives an error that `onStream` threw, or with which its promise rejected. Called after the connection has ended.
   * Default: rethrows the error, which ends the process.
   */
  readonly onFailure?: ((error: unknown) => unknown) | undefined;
  /**
   * True when a call to this path sends a single message, so that `requestMs` limits the whole request. Default: true
   * for all.
   */
  readonly hasOneRequest?: ((path: string) => boolean) | undefined;
  /** Memory limit that several connections share for their requests. Default: none. */
  readonly inbound?: OctetPool | undefined;
  /** Shared limit for the waiting output of several connections. Default: none. */
  readonly outbound?: OctetPool | undefined;
  /** Shared segments for assembling requests. Default: a separate pool. */
  readonly segments?: SegmentPool | undefined;
  readonly peer: PeerAddress;
  /** Headers added to every answer. Default: none. */
  readonly answerHeaders?: AnswerHeaders | undefined;
  /** Times, which specs shorten. See {@link Http2Limits} for the defaults. */
  readonly limits?:
    | { readonly [Name in keyof Http2Limits]?: Http2Limits[Name] | undefined }
    | undefined;
}

/** A served connection. It ends with its socket, on a violation of the protocol or a limit, or by `close`. */
export interface Http2Connection extends AsyncDisposable {
  /** Resolves once the socket has closed. */
  readonly closed: Promise<void>;
  /** Refuses new calls, gives open ones `graceMs` (default 0) to end, then resets them. Resolves when `closed` does. Idempotent. */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>;
}

/**
 * Serves HTTP/2 for gRPC on a socket. Takes ownership of the socket, and destroys it at the end of the connection. Never
 * throws because of client input.
 */
export function serveHttp2Connection(
  socket: Duplex,
  options: Http2ConnectionOptions,
): Http2Connection {
  const { onStream, inbound = NO_POOL, outbound = NO_POOL, peer } = options;
  const connection = new Connection(socket, {
    onStream,
    inbound,
    outbound,
    peer,
    onGreeted: reporter(options.onGreeted),
    onEnd: reporter(options.onEnd),
    onFailure: options.onFailure === undefined ? rethrow : reporter(options.onFailure),
    hasOneRequest: options.hasOneRequest ?? (() => true),
    answerHeaders: options.answerHeaders ?? {},
    segments: options.segments ?? new SegmentPool(),
    limits: limitsOf(options.limits),
  });
  return {
    closed: connection.closed,
    close: ({ graceMs = 0 } = {}) => connection.close(graceMs),
    [Symbol.asyncDispose]: () => connection.close(0),
  };
}

/** Same as `reporter` of `@wins/base`, so that this library does not depend on that one. */
function reporter<Report extends readonly unknown[]>(
  callback: ((...report: Report) => unknown) | undefined,
): (...report: Report) => void {
  const warn = (error: unknown): void => {
    let detail: string;
    try {
      detail = inspect(error);
    } catch {
      detail = 'its error cannot be shown';
    }
    process.emitWarning('a callback failed', { code: 'WINS_CALLBACK_FAILED', detail });
  };
  return (...report) => {
    try {
      Promise.resolve(callback?.(...report)).catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}

function rethrow(error: unknown): never {
  throw error;
}

function limitsOf(given: Http2ConnectionOptions['limits'] = {}): Http2Limits {
  const set = Object.entries(given).filter((limit) => limit[1] !== undefined);
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(set) };
}
