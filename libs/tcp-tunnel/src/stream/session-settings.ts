import type { Optional } from '@wins/base';
import type { Duplex } from 'node:stream';
import type { FlowLimits } from './flow-control.js';
import { TunnelError } from '../tunnel-error.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** Times of a tunnel, in milliseconds of the monotonic clock. Programs keep the defaults; specs shorten them. */
export interface TunnelTimes {
  /**
   * Interval of ticks. At each tick, a client pings its peer, and both roles repeat messages that may have been lost.
   * Default 5,000.
   */
  readonly tickMs: number;
  /**
   * Time without a message after which the peer counts as dead. A stall of this process does not count. Default 60,000.
   */
  readonly silenceTimeoutMs: number;
  /** Interval at which a client sends its list of open streams. Default 60,000. */
  readonly syncIntervalMs: number;
  /**
   * Idle time-out of a half-closed stream, and of one that ended without a reset but has unread data.
   * Counts from the last byte sent, received or read. Default 600,000.
   */
  readonly halfClosedIdleMs: number;
  /**
   * Idle time-out, at a client, of a stream whose local program has sent all its data. It applies if the peer lacks
   * half-close. Such a peer stops answering once this side reports the end of that data. Therefore this side waits
   * until the stream was idle for this time, and then reports the end. Default 10,000.
   */
  readonly heldEndIdleMs: number;
  /**
   * Time-out of a stream whose reader reads nothing. It applies only if the peer has reset the stream, or while the stream
   * makes other streams wait. Default 30,000.
   */
  readonly stoppedReaderMs: number;
  /**
   * Idle time-out, at a server, of a stream whose client lacks half-close. It is needed because the Go client,
   * since 0.4.20, does not report that its local connection was closed. Default 1,800,000.
   */
  readonly untoldIdleMs: number;
  /** Time-out of a server's dial to 127.0.0.1 and ::1 together. Default 10,000. */
  readonly dialTimeoutMs: number;
  /** Time to read and discard the data of a program, or of a local connection, after the peer closed the stream. Default 2,000. */
  readonly lingerMs: number;
  /** Time-out of closing the WebSocket, after which it is destroyed. Default 1,000. */
  readonly closeTimeoutMs: number;
}

export const DEFAULT_TIMES: TunnelTimes = {
  tickMs: 5_000,
  silenceTimeoutMs: 60_000,
  syncIntervalMs: 60_000,
  halfClosedIdleMs: 600_000,
  heldEndIdleMs: 10_000,
  stoppedReaderMs: 30_000,
  untoldIdleMs: 1_800_000,
  dialTimeoutMs: 10_000,
  lingerMs: 2_000,
  closeTimeoutMs: 1_000,
};

/** Options of both roles. */
export interface TunnelOptions {
  /** Times, which specs shorten. See {@link TunnelTimes} for the defaults. */
  readonly times?: Optional<TunnelTimes> | undefined;
  /**
   * Called at most once, when the peer continues to send after a Pause, as remotedialer before 0.3 does. From then on a
   * slow reader stops the tunnel from reading at all, so other streams wait too.
   */
  readonly onPeerNeverPauses?: (() => unknown) | undefined;
  /**
   * The connection below the WebSocket, if it is a pipe or a Unix socket. To save time, tunnel messages then bypass the
   * WebSocket object: this side reads and writes their frames on the connection itself. A client gives these frames a
   * zero mask. A client must therefore create the WebSocket with `localEndpoint`, which gives all other frames the same
   * mask. The WebSocket still owns the connection.
   */
  readonly localConnection?: Duplex | undefined;
  /** Closes the session when the signal aborts. */
  readonly signal?: AbortSignal | undefined;
}

export interface SessionSettings extends TunnelTimes {
  readonly flow: FlowLimits;
}

/**
 * Checks `maxStreams`: the ids of all streams must fit into one Sync message.
 *
 * @throws {TunnelError} `invalidOption`.
 */
export function streamLimit(value = 1024): number {
  const most = PROTOCOL_LIMITS.syncBytes / 8;
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value;
  throw new TunnelError(
    'invalidOption',
    `cannot set maxStreams to ${value}; wanted a whole number from 1 to ${most}`,
  );
}
