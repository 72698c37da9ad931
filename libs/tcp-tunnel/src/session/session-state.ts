import type { TunnelError } from '../tunnel-error.js';
import type { UdpFlow } from '../udp/udp-flow.js';
import type { SessionFlow } from './session-flow.js';
import type { SessionStream } from '../stream/session-stream.js';
import type { Int64 } from '../wire/varint.js';

/** First cause of a session's end. */
export type TunnelEnd =
  /** `close()` or a finished `drain()` on this side. */
  | { readonly reason: 'closed' }
  | { readonly reason: 'aborted' }
  | { readonly reason: 'peer-closed'; readonly code: number; readonly text: string }
  /** The error's code is `webSocketFailed`, `peerSilent`, `protocolViolation` or `sendOverflow`. */
  | { readonly reason: 'failed'; readonly error: TunnelError };

/** In `closing` the transport is not closed yet. `end` is set once, when the session leaves `open` or `draining`. */
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

export function mayMoveSession(from: SessionState['kind'], to: SessionState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}

/** Verdict on a Connect: a handler for the new stream or flow, or the text of a refusal. */
export type Admission =
  | { readonly open: (stream: SessionStream) => void }
  /** Opens the destination of a flow. Relays its datagrams to the peer, and reports its end to the peer. */
  | { readonly openFlow: (flow: SessionFlow) => Pick<UdpFlow, 'send' | 'close'> }
  | {
      readonly refusal: string;
      /** True if the peer was refused too often. Its next messages are then delayed. */
      readonly isOverRate: boolean;
    };

export type SessionRole =
  | { readonly kind: 'client' }
  | {
      readonly kind: 'server';
      readonly admit: (address: string, id: Int64, carriesDatagrams: boolean) => Admission;
      /** Maximum number of ids of one Sync message that the server looks up. */
      readonly mostListed: number;
    };
