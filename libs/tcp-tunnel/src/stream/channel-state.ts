import type { TunnelError } from '../tunnel-error.js';

/** Why a channel is over on the wire; set once. */
export type ChannelEnd =
  | { readonly reason: 'finished' }
  | { readonly reason: 'peer-closed' }
  | { readonly reason: 'failed'; readonly error: TunnelError };

/**
 * Where a channel is on the wire. `local-ended` has `told` false while the peer cannot be told about the half-close: an
 * Error "EOF", all that older peers know, would end the answer too.
 */
export type ChannelState =
  | { readonly kind: 'open' }
  | { readonly kind: 'local-ended'; readonly told: boolean; readonly idleTicks: number }
  | { readonly kind: 'remote-ended' }
  | { readonly kind: 'closed'; readonly end: ChannelEnd };

const LEGAL_MOVES: Record<ChannelState['kind'], ReadonlySet<ChannelState['kind']>> = {
  open: new Set(['local-ended', 'remote-ended', 'closed'] as const),
  'local-ended': new Set(['local-ended', 'closed'] as const),
  'remote-ended': new Set(['closed'] as const),
  closed: new Set<ChannelState['kind']>(),
};

/** Whether a channel may go from one state to another; nothing leaves `closed`, so the first cause stays. */
export function mayMove(from: ChannelState['kind'], to: ChannelState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}
