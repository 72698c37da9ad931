import type { Duplex } from 'node:stream';
import { DEFAULT_LIMITS, type Http2Limits } from './connection-limits.js';
import type { EndReason } from './end-reason.js';
import { Connection } from './http2-connection.js';
import type { AnswerHeaders, PeerAddress } from './http2-stream.js';
import { NO_POOL, type OctetPool } from './octet-pool.js';
import type { RequestHeaders } from './request-headers.js';
import { SegmentPool } from './segment-pool.js';
import type { ServedStream } from './served-stream.js';

export interface Http2ConnectionOptions {
  /** Called once the preface and SETTINGS of the client have arrived. */
  readonly onGreeted?: () => void;
  /** Receives each call as soon as its headers have arrived. */
  readonly onStream: (stream: ServedStream, headers: RequestHeaders) => void;
  /** Called once after the connection ended and released its memory, with the reason; its socket may stay open for `lingerMs` more. */
  readonly onEnd?: (reason: EndReason) => void;
  /** Called with an error that `onStream` threw, after the connection ended. Default: rethrows it from a socket event. */
  readonly onFailure?: (error: unknown) => void;
  /** Returns whether a call to this path sends a single message, so that `requestMs` limits the whole request. Default: true for all. */
  readonly hasOneRequest?: (path: string) => boolean;
  /** Shared memory limit for the requests of several connections. Default: only the limits of each connection. */
  readonly inbound?: OctetPool;
  /** Shared limit for the waiting output of several connections. Default: only the limits of each connection. */
  readonly outbound?: OctetPool;
  /** Shared segments for assembling requests. Default: memory of this connection only. */
  readonly segments?: SegmentPool;
  /** Address of the peer for handlers. */
  readonly peer: PeerAddress;
  /** Headers added to every answer, regardless of the handler. Default: none. */
  readonly answerHeaders?: AnswerHeaders;
  /** See {@link Http2Limits} for the defaults. */
  readonly limits?: Partial<Http2Limits>;
}

export interface Http2Connection extends AsyncDisposable {
  /** Resolves once the socket has closed. */
  readonly closed: Promise<void>;
  /** Refuses new calls, gives open ones `graceMs` (default 0) to end, then resets them. Resolves with `closed`. Idempotent. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves HTTP/2 for gRPC on a socket and takes ownership of it: the socket is destroyed when the connection ends, and the connection ends
 * with the socket. Never throws because of client input.
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
