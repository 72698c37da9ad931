import type { TunnelError } from '../tunnel-error.js';

/** Why a stream is over on the wire; set once. */
export type StreamEnd =
  | { readonly reason: 'finished' }
  | { readonly reason: 'peer-closed' }
  | { readonly reason: 'failed'; readonly error: TunnelError };

/**
 * Where a stream is on the wire. `local-ended` has `told` false while the peer cannot be told about the half-close: an
 * Error "EOF", all that older peers know, would end the answer too.
 */
export type StreamState =
  | { readonly kind: 'open' }
  | { readonly kind: 'local-ended'; readonly told: boolean }
  | { readonly kind: 'remote-ended' }
  | { readonly kind: 'closed'; readonly end: StreamEnd };

const LEGAL_MOVES: Record<StreamState['kind'], ReadonlySet<StreamState['kind']>> = {
  open: new Set(['local-ended', 'remote-ended', 'closed'] as const),
  'local-ended': new Set(['local-ended', 'closed'] as const),
  'remote-ended': new Set(['closed'] as const),
  closed: new Set<StreamState['kind']>(),
};

/** Whether a stream may go from one state to another; nothing leaves `closed`, so the first cause stays. */
export function mayMove(from: StreamState['kind'], to: StreamState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}
