import type { Duplex } from 'node:stream';
import { DEFAULT_LIMITS, type Http2Limits } from './connection-limits.js';
import type { EndReason } from './end-reason.js';
import { Connection } from './http2-connection.js';
import type { AnswerHeaders, PeerAddress } from './http2-stream.js';
import { NO_POOL, type OctetPool } from './octet-pool.js';
import type { RequestHeaders } from './request-headers.js';
import { SegmentPool } from './segment-pool.js';
import type { ServedStream } from './served-stream.js';

/** How {@link serveHttp2Connection} serves. */
export interface Http2ConnectionOptions {
  /** Called once the preface and SETTINGS of the client have arrived. */
  readonly onGreeted?: () => void;
  /** Takes each call as soon as its headers are there. */
  readonly onStream: (stream: ServedStream, headers: RequestHeaders) => void;
  /** Called once when the connection ended and released its memory, with the reason; its socket may live for `lingerMs` more. */
  readonly onEnd?: (reason: EndReason) => void;
  /**
   * Called with the error that `onStream` threw; the connection has ended by then. Default: throws it again, out of an event of the socket.
   */
  readonly onFailure?: (error: unknown) => void;
  /** Whether a call by this path sends one message only; it has `requestMs` for all of it then. Default: each does. */
  readonly hasOneRequest?: (path: string) => boolean;
  /** Memory for the requests of several connections together. Default: each has its own limits alone. */
  readonly inbound?: OctetPool;
  /** Output that may wait for the clients of several connections together. Default: each has its own limits alone. */
  readonly outbound?: OctetPool;
  /** Segments in which several connections assemble requests. Default: memory of this connection alone. */
  readonly segments?: SegmentPool;
  /** Address of the peer for handlers. */
  readonly peer: PeerAddress;
  /** Set among the first headers of each answer, whatever the handler says. Default none. */
  readonly answerHeaders?: AnswerHeaders;
  /** See {@link Http2Limits} for the defaults. */
  readonly limits?: Partial<Http2Limits>;
}

/** A connection that is served. */
export interface Http2Connection extends AsyncDisposable {
  /** Resolves once the socket is gone. */
  readonly closed: Promise<void>;
  /**
   * Takes no more calls, lets those under way end for `graceMs` (default 0), then cuts them. Resolves with `closed`. Idempotent.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves HTTP/2 for gRPC on a socket, which belongs to the connection from now on: it is destroyed when the connection ends, and
 * the connection ends with it. Never throws for what a client sends.
 */
export function serveHttp2Connection(
  socket: Duplex,
  options: Http2ConnectionOptions,
): Http2Connection {
  const { onStream, inbound = NO_POOL, outbound = NO_POOL, peer } = options;
  const connection = new Connection(socket, {
    ...{ onStream, inbound, outbound, peer },
    onGreeted: options.onGreeted ?? (() => undefined),
    onEnd: options.onEnd ?? (() => undefined),
    onFailure: options.onFailure ?? rethrow,
    hasOneRequest: options.hasOneRequest ?? (() => true),
    answerHeaders: options.answerHeaders ?? {},
    segments: options.segments ?? new SegmentPool(),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  });
  return {
    closed: connection.closed,
    close: ({ graceMs = 0 } = {}) => connection.close(graceMs),
    [Symbol.asyncDispose]: () => connection.close(0),
  };
}

function rethrow(error: unknown): never {
  throw error;
}
