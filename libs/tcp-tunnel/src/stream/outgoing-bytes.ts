/** The chunks of one write that wait to be sent, taken out in pieces of another size. */
export class OutgoingBytes {
  #chunks: readonly Buffer[] = [];
  #index = 0;
  #offset = 0;
  #length = 0;
  #done: (() => void) | undefined;

  get length(): number {
    return this.#length;
  }

  /** What is left of the first chunk. */
  get firstLength(): number {
    return (this.#chunks[this.#index]?.length ?? 0) - this.#offset;
  }

  /** Takes over the chunks; `done` is called when the last byte was taken or dropped. */
  put(chunks: readonly Buffer[], done: () => void): void {
    this.#chunks = chunks;
    this.#index = 0;
    this.#offset = 0;
    this.#done = done;
    this.#length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** Fills `target` from `at` to its end; the caller made it no longer than there are bytes. */
  take(target: Buffer, at: number): void {
    let position = at;
    while (position < target.length) {
      const chunk = this.#chunks[this.#index];
      if (chunk === undefined) throw new RangeError('took more bytes than wait to be sent');
      const copied = chunk.copy(target, position, this.#offset);
      position += copied;
      this.#move(chunk, copied);
    }
    this.#length -= target.length - at;
  }

  /** The next bytes themselves, of the first chunk and no more than so many. */
  takeFirst(most: number): Buffer {
    const chunk = this.#chunks[this.#index];
    if (chunk === undefined) throw new RangeError('took more bytes than wait to be sent');
    const first = chunk.subarray(this.#offset, this.#offset + most);
    this.#move(chunk, first.length);
    this.#length -= first.length;
    return first;
  }

  /** Says that the write is over when nothing is left of it. */
  settle(): void {
    if (this.#length > 0 || this.#done === undefined) return;
    const done = this.#done;
    this.#done = undefined;
    this.#chunks = [];
    done();
  }

  /** Drops what is left; the write counts as done. */
  discard(): void {
    this.#length = 0;
    this.settle();
  }

  #move(chunk: Buffer, taken: number): void {
    this.#offset += taken;
    if (this.#offset < chunk.length) return;
    this.#index += 1;
    this.#offset = 0;
  }
}
