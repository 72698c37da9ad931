import type { Carrier, CarrierEvents } from '../carrier.js';

interface Sent {
  readonly bytes: Buffer;
  readonly sent: () => void;
}

/**
 * One direction of an in-memory carrier. What was sent is `buffered` until `handOn` moves it to the `wire`, which holds a
 * few messages as a kernel does; `deliver` gives one to the other side. A specification decides when each happens.
 */
export class MemoryLink implements Carrier {
  readonly #buffered: Sent[] = [];
  readonly wire: Buffer[] = [];
  peer: CarrierEvents | undefined;
  pings = 0;
  ended = false;

  constructor(private readonly wireCapacity: number) {}

  get bufferedBytes(): number {
    return this.#buffered.reduce((sum, entry) => sum + entry.bytes.length, 0);
  }

  get idle(): boolean {
    return this.#buffered.length === 0 && this.wire.length === 0;
  }

  send(bytes: Buffer, sent: () => void): void {
    if (!this.ended) this.#buffered.push({ bytes, sent });
  }

  ping(): void {
    this.pings += 1;
  }

  close(): void {
    this.ended = true;
  }

  terminate(): void {
    this.ended = true;
  }

  handOn(): void {
    if (this.wire.length >= this.wireCapacity) return;
    const entry = this.#buffered.shift();
    if (entry === undefined) return;
    this.wire.push(entry.bytes);
    entry.sent();
  }

  deliver(): void {
    const bytes = this.wire.shift();
    // A real carrier delivers views into its own read buffer.
    if (bytes !== undefined) this.peer?.message(Buffer.from(bytes));
  }
}
