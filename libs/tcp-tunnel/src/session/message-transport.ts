/**
 * What a session needs of the thing that carries its messages: whole messages, in order. The WebSocket is one; a
 * specification uses one in memory.
 */
export interface MessageTransport {
  /** Bytes accepted by `send` and not yet handed on. */
  readonly bufferedBytes: number;
  /**
   * Queues one message, or its beginning and its `rest`. `sent` is called when it was handed on or can never be; never from inside
   * `send`. All of it belongs to the transport.
   */
  send(message: Buffer, sent: () => void, rest?: readonly Buffer[]): void;
  /** Calls `then` after everything else that is ready had its turn, or, when `idle`, a millisecond later. */
  rest(idle: boolean, then: () => void): void;
  /** Takes nothing more from the peer until `resume`, but for what was read already. */
  pause(): void;
  resume(): void;
  /** Calls `then` after everything else that is ready had its turn, and no sooner than after so many milliseconds. */
  afterTurn(delayMs: number, then: () => void): void;
  /** Asks the peer for a sign of life. */
  ping(): void;
  /** Ends after what was queued; `closed` of the receiver follows. */
  close(code: number, reason: string): void;
  /** Ends at once; `closed` of the receiver follows. */
  terminate(): void;
}

/** What a transport tells its session. */
export interface TransportEvents {
  /** A message in one part or more; the first has its header. */
  message(parts: readonly Buffer[]): void;
  /** A sign of life without content. */
  heard(): void;
  /** The peer answered a ping. */
  answered(): void;
  /** The transport broke a rule of its own, such as a text frame. */
  violated(what: string): void;
  /** The last event. `error` when the transport failed rather than closed. */
  closed(code: number, reason: string, error: Error | undefined): void;
}
