import { imageFailed } from '../image-failure.js';

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #what: string;
  #held: Buffer = Buffer.alloc(0);

  /** @param what - The operation, for errors: `read an LZ4 file`. */
  constructor(chunks: AsyncIterable<Uint8Array>, what: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#what = what;
  }

  /** Does not consume the bytes. Returns fewer only at the end. */
  async peek(count: number): Promise<Buffer> {
    if (this.#held.length < count) {
      const parts = [this.#held];
      for (let length = this.#held.length; length < count;) {
        const chunk = await this.#next();
        if (chunk === undefined) break;
        parts.push(chunk);
        length += chunk.length;
      }
      this.#held = Buffer.concat(parts);
    }
    return this.#held.subarray(0, count);
  }

  /** @throws AgentError `imageFailed` if fewer bytes are left. */
  async read(count: number): Promise<Buffer> {
    const bytes = await this.peek(count);
    if (bytes.length < count) throw imageFailed(this.#what, 'its end', 'more bytes');
    this.#held = this.#held.subarray(count);
    return bytes;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const step = Math.min(left, Math.max(this.#held.length, 1));
      await this.read(step);
      left -= step;
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    try {
      for (
        let chunk: Buffer | undefined = this.#held;
        chunk !== undefined;
        chunk = await this.#next()
      )
        if (chunk.length > 0) yield chunk;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next();
    if (next.done === true) return undefined;
    const { buffer, byteOffset, byteLength } = next.value;
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}
