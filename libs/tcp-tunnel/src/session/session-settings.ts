import type { Duplex } from 'node:stream';
import { DEFAULT_FLOW_LIMITS, type FlowLimits } from '../stream/flow-control.js';
import { TunnelError } from '../tunnel-error.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** The options of both roles. Times are milliseconds of the monotonic clock. */
export interface TunnelOptions {
  /** Between two ticks of the session: a client pings, lost messages are repeated. Default 5,000. */
  readonly tickMs?: number;
  /** Without any sign of life for this long the peer is dead. A stall of this process does not count. Default 60,000. */
  readonly silenceTimeoutMs?: number;
  /** Between two lists of open streams that a client sends. Default 60,000. */
  readonly syncIntervalMs?: number;
  /**
   * A half-closed stream ends after this long in which no byte of it moved, to the peer, from it or to its reader; so does one that the
   * peer has ended, and whose reader does not take the rest. Default 600,000.
   */
  readonly halfClosedIdleMs?: number;
  /**
   * A stream that the peer has reset ends once its reader has taken nothing of the rest for this long; so does any stream whose reader
   * takes nothing while the others have to wait for it. Default 30,000.
   */
  readonly stoppedReaderMs?: number;
  /** How long the WebSocket may take to close before it is torn down. Default 1,000. */
  readonly closeTimeoutMs?: number;
  /**
   * Called at most once: the peer goes on sending after it was asked to pause a stream, as remotedialer before 0.3 does. From then on
   * the tunnel is not read while a reader is behind, and its other streams wait too. It must not throw.
   */
  readonly onPeerNeverPauses?: () => void;
  /**
   * The connection below the WebSocket, when that is a pipe or a Unix socket, and a client's WebSocket was made with `localEndpoint`.
   * Data then passes the WebSocket by, in frames with a mask of zeros, which costs less. It stays the WebSocket's.
   */
  readonly localConnection?: Duplex;
  /** Closes the session when it fires. */
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

/** The numbers of a session, complete. A tick is the session's only clock. */
export type SessionSettings = { readonly flow: FlowLimits } & Readonly<
  Record<Exclude<keyof typeof DEFAULTS, 'closeTimeoutMs'>, number>
>;

/** Fills and checks the options. @throws {TunnelError} `invalidOption` for a number that is not a positive integer. */
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
 * The most streams of a session: one list names them all.
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
