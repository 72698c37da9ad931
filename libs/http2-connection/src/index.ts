/**
 * Serves HTTP/2 for gRPC over any socket, with strict checks and bounded memory.
 *
 * Turns the input of a client into calls. The application decides what a call means, who may make it, and how many connections there may be.
 *
 * @example
 * ```ts
 * const connection = serveHttp2Connection(socket, {
 *   peer: { remoteAddress: 'pipe', remotePort: 7 },
 *   onStream: (stream, headers) => handle(stream, headers),
 *   onEnd: (reason) => log(reason),
 * });
 * await connection.close({ graceMs: 2000 });
 * ```
 *
 * @module
 */
export { serveHttp2Connection } from './serve-http2-connection.js';
export type { Http2Connection, Http2ConnectionOptions } from './serve-http2-connection.js';
export type { Http2Limits } from './connection-limits.js';
export { END_REASONS, type EndReason } from './end-reason.js';
export type { AnswerHeaders, PeerAddress } from './http2-stream.js';
export type { RequestHeaders } from './request-headers.js';
export type { ServedStream } from './served-stream.js';
export type { Refusal } from './message-gatherer.js';
export type { OctetAccount, OctetPool } from './octet-pool.js';
export { SegmentPool } from './segment-pool.js';
