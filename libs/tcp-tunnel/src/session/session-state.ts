import type { TunnelError } from '../tunnel-error.js';
import type { UdpFlow } from '../udp/udp-flow.js';
import type { SessionFlow } from './session-flow.js';
import type { SessionStream } from '../stream/session-stream.js';
import type { Int64 } from '../wire/varint.js';

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

export function mayMoveSession(from: SessionState['kind'], to: SessionState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}

/** The answer to a Connect: what to do with the stream that is opened, or the text of a refusal. */
export type Admission =
  | { readonly open: (stream: SessionStream) => void }
  /** Opens the destination of a flow, whose datagrams and end are sent to the peer. */
  | { readonly openFlow: (flow: SessionFlow) => UdpFlow }
  | {
      readonly refusal: string;
      /** The peer was refused too often: what more it sends shall wait. */
      readonly isOverRate: boolean;
    };

export type SessionRole =
  | { readonly kind: 'client' }
  | {
      readonly kind: 'server';
      /** `carriesDatagrams`: the peer may ask for a UDP flow. */
      readonly admit: (address: string, id: Int64, carriesDatagrams: boolean) => Admission;
      /** So many ids of a list are looked at for streams that we do not have. */
      readonly mostListed: number;
    };
