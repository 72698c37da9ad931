import type { Reading } from '../stream/message-transport.js';
import type { FlowLimits, SharedBuffer } from '../stream/flow-control.js';

export interface SlowReader {
  readonly heldBytes: number;
  giveUp(): void;
}

interface Progress {
  readonly heldBytes: number;
  readonly stoppedTicks: number;
}

/**
 * Handles slow readers when the peer may not support Pause (remotedialer before 0.3). A peer that keeps sending after a
 * Pause does not support Pause: from then on a slow reader stops the whole session from reading, as in remotedialer.
 * Because all other streams then wait, a stream whose reader reads nothing is ended, even if the peer has already closed
 * that stream.
 */
export class SlowReaders {
  readonly #behind = new Map<SlowReader, Progress>();
  readonly #reading: Reading;
  readonly #shared: SharedBuffer;
  readonly #mostStoppedTicks: number;
  readonly #found: () => void;
  #peer: 'unknown' | 'pauses' | 'neverPauses' = 'unknown';

  /**
   * @param mostStoppedTicks - If a stream blocks others and its reader reads nothing during this number of ticks, the stream is ended.
   * @param found - Called once, when the peer turns out not to support Pause.
   */
  constructor(reading: Reading, shared: SharedBuffer, mostStoppedTicks: number, found: () => void) {
    this.#reading = reading;
    this.#shared = shared;
    this.#mostStoppedTicks = mostStoppedTicks;
    this.#found = found;
  }

  /** True while a slow reader stops the session from reading. */
  get holding(): boolean {
    return this.#peer === 'neverPauses' && this.#behind.size > 0;
  }

  /** Called after the peer was asked to pause this stream. May be called again for the same stream. */
  add(stream: SlowReader): void {
    if (this.#peer === 'pauses') return;
    if (!this.#behind.has(stream))
      this.#behind.set(stream, { heldBytes: stream.heldBytes, stoppedTicks: 0 });
    if (this.#peer === 'unknown' && this.#ignoresPause(stream, this.#shared.limits)) {
      this.#peer = 'neverPauses';
      this.#found();
    }
    if (this.holding) this.#reading.hold('reader');
  }

  delete(stream: SlowReader): void {
    this.#behind.delete(stream);
    if (this.#behind.size === 0) this.#reading.release('reader');
  }

  tick(): void {
    if (!this.holding) return;
    for (const [stream, before] of [...this.#behind]) {
      const { heldBytes } = stream;
      const stoppedTicks = heldBytes === before.heldBytes ? before.stoppedTicks + 1 : 0;
      if (stoppedTicks >= this.#mostStoppedTicks) stream.giveUp();
      else this.#behind.set(stream, { heldBytes, stoppedTicks });
    }
  }

  peerPauses(): void {
    this.#peer = 'pauses';
    this.#behind.clear();
    this.#reading.release('reader');
  }

  /** After a Pause, more data than the few MiB in transit means that the peer does not honour it. */
  #ignoresPause(stream: SlowReader, { streamCapBytes, sessionCapBytes }: FlowLimits): boolean {
    return stream.heldBytes > streamCapBytes / 2 || this.#shared.totalBytes > sessionCapBytes / 2;
  }
}
