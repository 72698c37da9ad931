import type { Duplex } from 'node:stream';
import { DEFAULT_FLOW_LIMITS, type FlowLimits } from './flow-control.js';
import { TunnelError } from '../tunnel-error.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** Options of both roles. Times are milliseconds of the monotonic clock. */
export interface TunnelOptions {
  /**
   * Interval of ticks. At each tick, a client pings its peer, and both roles repeat messages that may have been lost.
   * Default 5,000.
   */
  readonly tickMs?: number;
  /**
   * Time without a message after which the peer counts as dead. A stall of this process does not count. Default 60,000.
   */
  readonly silenceTimeoutMs?: number;
  /** Interval at which a client sends its list of open streams. Default 60,000. */
  readonly syncIntervalMs?: number;
  /**
   * Idle time-out of a half-closed stream, and of one that ended without a reset but has unread data.
   * Counts from the last byte sent, received or read. Default 600,000.
   */
  readonly halfClosedIdleMs?: number;
  /**
   * Time-out of a stream whose reader reads nothing. It applies only if the peer has reset the stream, or while the stream
   * makes other streams wait. Default 30,000.
   */
  readonly stoppedReaderMs?: number;
  /** Time-out of closing the WebSocket, after which it is destroyed. Default 1,000. */
  readonly closeTimeoutMs?: number;
  /**
   * Called at most once, when the peer continues to send after a Pause, as remotedialer before 0.3 does. From then on a
   * slow reader stops the tunnel from reading at all, so other streams wait too. Must not throw.
   */
  readonly onPeerNeverPauses?: () => void;
  /**
   * The connection below the WebSocket, if it is a pipe or a Unix socket. To save time, tunnel messages then bypass the
   * WebSocket object: this side reads and writes their frames on the connection itself. A client gives these frames a
   * zero mask. A client must therefore create the WebSocket with `localEndpoint`, which gives all other frames the same
   * mask. The WebSocket still owns the connection.
   */
  readonly localConnection?: Duplex;
  /** Closes the session when the signal aborts. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  tickMs: 5_000,
  silenceTimeoutMs: 60_000,
  syncIntervalMs: 60_000,
  halfClosedIdleMs: 600_000,
  heldEndIdleMs: 10_000,
  stoppedReaderMs: 30_000,
  untoldIdleMs: 1_800_000,
  closeTimeoutMs: 1_000,
} as const;

/** Omits `closeTimeoutMs`, which only the transport uses. */
export type SessionSettings = { readonly flow: FlowLimits } & Readonly<
  Record<Exclude<keyof typeof DEFAULTS, 'closeTimeoutMs'>, number>
>;

/** @throws {TunnelError} `invalidOption` for a number that is not a positive integer. */
export function completeOptions(
  options: TunnelOptions & { readonly heldEndIdleMs?: number; readonly untoldIdleMs?: number },
): SessionSettings & { readonly closeTimeoutMs: number } {
  const entries = Object.entries(DEFAULTS).map(([name, fallback]) => {
    const value = options[name as keyof typeof DEFAULTS] ?? fallback;
    return [name, positiveInteger(name, value)];
  });
  return { ...(Object.fromEntries(entries) as typeof DEFAULTS), flow: DEFAULT_FLOW_LIMITS };
}

/**
 * Checks `maxStreams`: the ids of all streams must fit into one Sync message.
 *
 * @throws {TunnelError} `invalidOption`.
 */
export function streamLimit(value = 1024): number {
  const most = PROTOCOL_LIMITS.syncBytes / 8;
  if (positiveInteger('maxStreams', value) <= most) return value;
  throw new TunnelError(
    'invalidOption',
    `cannot set maxStreams to ${value}; wanted ${most} at most`,
  );
}

/** @throws {TunnelError} `invalidOption`. */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TunnelError(
    'invalidOption',
    `cannot set ${name} to ${value}; wanted a positive integer`,
  );
}
