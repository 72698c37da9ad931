import type { Duplex } from 'node:stream';
import type { Int64 } from '../wire/varint.js';

/**
 * One TCP stream through the tunnel. Both directions end independently, as with `allowHalfOpen`, if the peer supports
 * it. After the peer closed the whole stream, writes are discarded and the stream destroys itself once it is read to
 * the end. `destroy()` before both ends resets the stream at the peer.
 *
 * Emits `error` with a `TunnelError`: `streamReset` (the peer reported a failure, whose text is in the message; earlier
 * data is delivered first), `receiveOverflow`, `readerStopped`, `streamIdle`, `streamForgotten`, `sessionEnded`,
 * `aborted`.
 */
export interface TunnelStream extends Duplex {
  /** The connection id on the wire. */
  readonly id: Int64;
  /** Bytes received from the peer. */
  readonly bytesRead: number;
  /** Bytes sent to the peer. */
  readonly bytesWritten: number;
}

export interface TunnelTraffic {
  /** Bytes received from the peer. */
  receivedBytes: number;
  /** Bytes sent to the peer. */
  sentBytes: number;
  /** Number of times that the peer was asked to pause a stream with a slow reader. */
  pauses: number;
  /** Datagrams that were dropped because the peer was slow or they were too long. */
  droppedDatagrams: number;
}
