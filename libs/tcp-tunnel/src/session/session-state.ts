import type { TunnelError } from '../tunnel-error.js';

/** Why a session is over: the first cause, kept. */
export type TunnelEnd =
  /** `close()` or a finished `drain()` on this side. */
  | { readonly reason: 'closed' }
  /** The signal in the options fired. */
  | { readonly reason: 'aborted' }
  /** The peer closed the WebSocket, with its code and text. */
  | { readonly reason: 'peer-closed'; readonly code: number; readonly text: string }
  /** `webSocketFailed`, `peerSilent`, `protocolViolation` or `sendOverflow`, as the error's code says. */
  | { readonly reason: 'failed'; readonly error: TunnelError };

/** Where a session is. `closing` waits for the transport; `end` is set once, on the way out of `open` or `draining`. */
export type SessionState =
  | { readonly kind: 'open' }
  | { readonly kind: 'draining' }
  | { readonly kind: 'closing'; readonly end: TunnelEnd }
  | { readonly kind: 'closed'; readonly end: TunnelEnd };

const LEGAL_MOVES: Record<SessionState['kind'], ReadonlySet<SessionState['kind']>> = {
  open: new Set(['draining', 'closing', 'closed'] as const),
  draining: new Set(['closing', 'closed'] as const),
  closing: new Set(['closed'] as const),
  closed: new Set<SessionState['kind']>(),
};

/** Whether a session may go from one state to another. */
export function mayMoveSession(from: SessionState['kind'], to: SessionState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}
