import type { Int64 } from './varint.js';

/**
 * Message numbers on the wire. This side ignores AddClient (4) and RemoveClient (5) of remotedialer. Go peers ignore the
 * last three, which are our extensions.
 */
export const MessageType = {
  data: 1,
  connect: 2,
  error: 3,
  pause: 6,
  resume: 7,
  syncConnections: 8,
  hello: 1001,
  end: 1002,
  datagram: 1003,
} as const;

/**
 * `payload` is a view, which keeps the whole received buffer in memory: code that holds it for long must copy it. Messages of an
 * `unknown` type are ignored.
 */
export type TunnelMessage =
  | { readonly type: 'data'; readonly id: Int64; readonly payload: Buffer }
  | { readonly type: 'connect'; readonly id: Int64; readonly address: string }
  | { readonly type: 'error'; readonly id: Int64; readonly text: string }
  | { readonly type: 'pause'; readonly id: Int64 }
  | { readonly type: 'resume'; readonly id: Int64 }
  | { readonly type: 'sync'; readonly ids: readonly Int64[] }
  /** Announces the extensions up to this revision. The client sends Hello first; the server answers with its own revision. */
  | { readonly type: 'hello'; readonly revision: number }
  /** Half-close: the sender sends no more data on this stream. Sent only after an exchange of Hello. */
  | { readonly type: 'end'; readonly id: Int64 }
  /** One datagram of a UDP flow. Sent only if both peers announced {@link DATAGRAM_REVISION}. */
  | { readonly type: 'datagram'; readonly id: Int64; readonly payload: Buffer }
  | { readonly type: 'unknown'; readonly id: Int64 };

export const CLEAN_END = 'EOF';

/** First revision with datagrams. */
export const DATAGRAM_REVISION = 2;

/** Revision that this side announces. */
export const EXTENSION_REVISION = DATAGRAM_REVISION;
