import type { MessageTransport } from './message-transport.js';

/** Why a transport is not read: its messages cost too much, or a reader is behind whose stream the peer cannot pause. */
export type HoldReason = 'work' | 'reader';

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
