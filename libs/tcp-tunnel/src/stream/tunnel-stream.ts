import type { Duplex } from 'node:stream';
import type { Int64 } from '../wire/varint.js';

/**
 * One TCP stream through the tunnel. Both directions end on their own, as with `allowHalfOpen`, as far as the peer can
 * be told. After the peer closed the stream as a whole, writes are discarded and the stream destroys itself once it is
 * read to the end. `destroy()` before both ends tells the peer that the stream was reset.
 *
 * Emits `error` with a `TunnelError`: `streamReset` (the peer reported a failure, whose text is in the message;
 * what arrived before is delivered first), `receiveOverflow`, `readerStopped`, `streamIdle`, `streamForgotten`, `sessionEnded`, `aborted`.
 */
export interface TunnelStream extends Duplex {
  /** The connection id on the wire. */
  readonly id: Int64;
  /** Bytes that came from the peer. */
  readonly bytesRead: number;
  /** Bytes that went to the peer. */
  readonly bytesWritten: number;
}

/** Traffic of the streams and UDP flows of one tunnel. */
export interface TunnelTraffic {
  /** Bytes that came from the peer. */
  receivedBytes: number;
  /** Bytes that went to the peer. */
  sentBytes: number;
  /** How often the peer was asked to pause a stream whose reader is behind. */
  pauses: number;
  /** Datagrams that were dropped because the peer was slow or they were too long. */
  droppedDatagrams: number;
}
