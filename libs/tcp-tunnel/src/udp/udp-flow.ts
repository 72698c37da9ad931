/**
 * Datagrams between one source and one destination, which UDP itself does not associate. Both directions are lossy: at
 * the queue limit a datagram is dropped.
 */
export interface UdpFlow {
  /** Sends one datagram to the destination, or drops it. Does nothing after the flow has ended. */
  send(datagram: Buffer): void;
  /** Ends the flow; `onEnd` is not called. Idempotent. */
  close(): void;
}

/** Events of a flow, from its destination. They must not throw. */
export interface UdpFlowEvents {
  readonly onDatagram: (datagram: Buffer) => void;
  /**
   * Called at most once when the flow ended by itself, with an error unless it was idle; never during the call that
   * opened the flow.
   */
  readonly onEnd: (error?: Error) => void;
}

/** Maximum unsent bytes in a socket's send queue: beyond it datagrams are dropped. */
export const MOST_UNSENT_BYTES = 1024 * 1024;
