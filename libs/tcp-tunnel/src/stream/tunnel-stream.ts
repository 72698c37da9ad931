import type { Duplex } from 'node:stream';
import type { Int64 } from '../wire/varint.js';

/**
 * One TCP stream through the tunnel. If the peer supports half-close, both directions end independently, as with
 * `allowHalfOpen`. After the peer closed the whole stream, writes are discarded, and the stream destroys itself once
 * all data is read. `destroy()` resets the stream at the peer unless both directions have ended.
 *
 * Emits `error` with a `TunnelError`: `streamReset` (the peer reported a failure; earlier data is delivered first),
 * `receiveOverflow`, `readerStopped`, `streamIdle`, `streamForgotten`, `sessionEnded`, `aborted`.
 */
export interface TunnelStream extends Duplex {
  /** The connection id on the wire. */
  readonly id: Int64;
  /** Bytes received from the peer. */
  readonly bytesRead: number;
  /** Bytes sent to the peer. */
  readonly bytesWritten: number;
}

/** Counters since the start of the tunnel; they never decrease. */
export interface TunnelTraffic {
  /** Includes datagrams. */
  receivedBytes: number;
  /** Includes datagrams. */
  sentBytes: number;
  /** Number of Pauses sent because of a slow reader. */
  pauses: number;
  /** Datagrams that were dropped because the peer was slow or they were too long. */
  droppedDatagrams: number;
}
