/**
 * Port of a session to the carrier of its messages: whole messages, in order. The WebSocket is one; specs use one in memory.
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

export interface TransportEvents {
  /** A message in one part or more; the first has its header. */
  message(parts: readonly Buffer[]): void;
  /** A sign of life without content. */
  heard(): void;
  answered(): void;
  /** The transport broke a rule of its own, such as a text frame. */
  violated(what: string): void;
  /** The last event. `error` when the transport failed rather than closed. */
  closed(code: number, reason: string, error: Error | undefined): void;
}

/** Why a transport is not read: its messages cost too much, or a reader is behind whose stream the peer cannot pause. */
type HoldReason = 'work' | 'reader';

/** Reads the transport as long as there is no reason not to. */
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
