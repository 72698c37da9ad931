/** Datagrams between one source and one destination. Both directions drop datagrams at the queue limit. */
export interface UdpFlow extends Disposable {
  /** Sends or drops one datagram. Does nothing after the flow has ended. */
  send(datagram: Buffer): void;
  /** Ends the flow; `onEnd` is not called. Idempotent. */
  close(): void;
}

/** Events from the destination of a flow. */
export interface UdpFlowEvents {
  readonly onDatagram: (datagram: Buffer) => unknown;
  /**
   * Called at most once, when the flow ends without `close`. `error` is set unless the flow was idle. Never called while
   * the flow is being opened.
   */
  readonly onEnd: (error?: Error) => unknown;
}

/** Decides when the datagrams of one source are passed on, in both directions. */
export interface UdpTurns {
  /** Runs `pass`, which does not throw, now or later. Returns false if too many datagrams wait; the datagram is then dropped. */
  run(bytes: number, pass: () => void): boolean;
  /** Called when the flow ends. */
  close(): void;
}

/** Maximum unsent bytes in a socket's send queue. Further datagrams are dropped. */
export const MOST_UNSENT_BYTES = 1024 * 1024;
