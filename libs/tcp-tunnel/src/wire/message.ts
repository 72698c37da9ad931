import type { Int64 } from './varint.js';

/** The number of each message on the wire. The last three are extensions, which every other peer ignores. */
export const MessageType = {
  data: 1,
  connect: 2,
  error: 3,
  addClient: 4,
  removeClient: 5,
  pause: 6,
  resume: 7,
  syncConnections: 8,
  hello: 1001,
  end: 1002,
  datagram: 1003,
} as const;

/**
 * One decoded message. `payload` of `data` is a view into the received buffer; code that keeps it copies it or accounts
 * for it. `unknown` stands for a type that a later peer may have invented: it is ignored.
 */
export type TunnelMessage =
  | { readonly type: 'data'; readonly id: Int64; readonly payload: Buffer }
  | { readonly type: 'connect'; readonly id: Int64; readonly address: string }
  | { readonly type: 'error'; readonly id: Int64; readonly text: string }
  | { readonly type: 'add-client'; readonly clientKey: string }
  | { readonly type: 'remove-client'; readonly clientKey: string }
  | { readonly type: 'pause'; readonly id: Int64 }
  | { readonly type: 'resume'; readonly id: Int64 }
  | { readonly type: 'sync'; readonly ids: readonly Int64[] }
  /** "I speak the extensions up to this revision." Sent by a client first, and by a server in answer. */
  | { readonly type: 'hello'; readonly revision: number }
  /** "No more data from me on this stream; yours may go on." Only between peers that said hello. */
  | { readonly type: 'end'; readonly id: Int64 }
  /** One datagram of a UDP flow. Only between peers whose Hello announced {@link DATAGRAM_REVISION}. */
  | { readonly type: 'datagram'; readonly id: Int64; readonly payload: Buffer }
  | { readonly type: 'unknown'; readonly id: Int64 };

export const CLEAN_END = 'EOF';

/** Revision of the extensions from which on a peer carries datagrams. */
export const DATAGRAM_REVISION = 2;

/** Revision that is announced: that of the last extension. */
export const EXTENSION_REVISION = DATAGRAM_REVISION;
