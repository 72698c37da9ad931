import { DEFAULT_FLOW_LIMITS } from './flow-control.js';
import type { SessionSettings } from './session-core.js';
import { TunnelError } from './tunnel-error.js';

/** The options of both roles. Times are milliseconds of the monotonic clock. */
export interface TunnelOptions {
  /** Between two ticks of the session: a client pings, lost messages are repeated. Default 5,000. */
  readonly tickMs?: number;
  /** Without any sign of life for this long the peer is dead. A stall of this process does not count. Default 60,000. */
  readonly silenceTimeoutMs?: number;
  /** Between two lists of open streams that a client sends. Default 60,000. */
  readonly syncIntervalMs?: number;
  /** A half-closed stream without data for this long ends. Default 600,000. */
  readonly halfClosedIdleMs?: number;
  /** How long the WebSocket may take to close before it is torn down. Default 1,000. */
  readonly closeTimeoutMs?: number;
  /** Closes the session when it fires. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  tickMs: 5_000,
  silenceTimeoutMs: 60_000,
  syncIntervalMs: 60_000,
  halfClosedIdleMs: 600_000,
  heldEndIdleMs: 10_000,
  closeTimeoutMs: 1_000,
} as const;

/**
 * Fills and checks the options.
 *
 * @throws {TunnelError} `invalid-option` for a number that is not a positive integer.
 */
export function completeOptions(
  options: TunnelOptions & { readonly heldEndIdleMs?: number },
): SessionSettings & { readonly closeTimeoutMs: number } {
  const entries = Object.entries(DEFAULTS).map(([name, fallback]) => {
    const value = options[name as keyof typeof DEFAULTS] ?? fallback;
    return [name, positiveInteger(name, value)];
  });
  return { ...(Object.fromEntries(entries) as typeof DEFAULTS), flow: DEFAULT_FLOW_LIMITS };
}

/** @throws {TunnelError} `invalid-option`. */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TunnelError('invalid-option', `set ${name} to ${value}; it must be a positive integer`);
}
