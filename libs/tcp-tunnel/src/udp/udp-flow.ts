/**
 * Datagrams between one source and one destination, which UDP itself does not tie together. Both directions lose what there is no room
 * for: a datagram is dropped rather than queued.
 */
export interface UdpFlow {
  /** Sends one datagram to the destination, or drops it. Nothing once the flow has ended. */
  send(datagram: Buffer): void;
  /** Ends it; `onEnd` is not called. Idempotent. */
  close(): void;
}

/** Events of a flow, from its destination. They must not throw. */
export interface UdpFlowEvents {
  readonly onDatagram: (datagram: Buffer) => void;
  /** The flow ended by itself, with why unless it was idle. Called once at most, and never from inside of what opened it. */
  readonly onEnd: (error?: Error) => void;
}

/** Bytes that may wait in the send queue of a socket, in bytes: beyond it datagrams are dropped. */
export const MOST_UNSENT_BYTES = 1024 * 1024;
