/** Sends and receives whole messages, in order: over a WebSocket, or in memory for tests. */
export interface MessageTransport {
  /** Bytes accepted by `send` and not yet passed on. */
  readonly bufferedBytes: number;
  /**
   * Queues one message, which consists of `message` and `rest`. Calls `sent` after the message was passed on or dropped,
   * but never during `send`. Takes ownership of the buffers.
   */
  send(message: Buffer, sent: () => void, rest?: readonly Buffer[]): void;
  /** Calls `then` in the next turn of the event loop or, if `idle`, after a millisecond. */
  rest(idle: boolean, then: () => void): void;
  /** Stops reading; data already read is still delivered. */
  pause(): void;
  resume(): void;
  /** Calls `then` after `delayMs` milliseconds, at the earliest in the next turn of the event loop. */
  afterTurn(delayMs: number, then: () => void): void;
  ping(): void;
  /** Closes after the queued messages; `closed` follows. */
  close(code: number, reason: string): void;
  /** Closes at once; `closed` follows. */
  terminate(): void;
}

export interface TransportEvents {
  /** The first part contains the whole header. */
  message(parts: readonly Buffer[]): void;
  /** Reports a sign of life without content, such as a ping. */
  heard(): void;
  answered(): void;
  /** Reports a violation of the transport's own rules, such as a text frame. */
  violated(what: string): void;
  /** The last event. `error` is set when the transport failed. */
  closed(code: number, reason: string, error: Error | undefined): void;
}

/** Reason to stop reading. `work`: messages cost too much. `reader`: the reader of a stream is slow, and the peer cannot pause that stream alone. */
type HoldReason = 'work' | 'reader';

/** Pauses the transport while there is a reason. */
export class Reading {
  readonly #transport: Pick<MessageTransport, 'pause' | 'resume'>;
  readonly #reasons = new Set<HoldReason>();

  constructor(transport: Pick<MessageTransport, 'pause' | 'resume'>) {
    this.#transport = transport;
  }

  hold(reason: HoldReason): void {
    if (this.#reasons.size === 0) this.#transport.pause();
    this.#reasons.add(reason);
  }

  release(reason: HoldReason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#transport.resume();
  }
}
