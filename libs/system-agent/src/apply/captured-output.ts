/** Number of bytes kept from each end of a stream. */
export const CAPTURED_HALF_BYTES = 256 * 1024;

const FIRST_CAPACITY_BYTES = 4096;

/** Output of one stream in bounded memory. Above 512 KiB, a line with the number of omitted bytes replaces the middle. */
export class CapturedOutput {
  #head = Buffer.alloc(0);
  /** Ring buffer. */
  #tail: Buffer | undefined;
  #totalBytes = 0;

  add(bytes: Buffer): void {
    const first = bytes.subarray(0, Math.max(0, CAPTURED_HALF_BYTES - this.#totalBytes));
    this.#addToHead(first);
    const rest = bytes.subarray(first.length);
    const offset = this.#totalBytes + first.length - CAPTURED_HALF_BYTES;
    this.#totalBytes += bytes.length;
    if (rest.length > 0) this.#addToTail(rest, offset);
  }

  value(): Buffer | null {
    const total = this.#totalBytes;
    if (total === 0) return null;
    if (total <= CAPTURED_HALF_BYTES) return Buffer.from(this.#head.subarray(0, total));
    const tail = this.#tail ?? Buffer.alloc(0);
    const left = total - 2 * CAPTURED_HALF_BYTES;
    if (left <= 0) return Buffer.concat([this.#head, tail.subarray(0, total - this.#head.length)]);
    const start = total % CAPTURED_HALF_BYTES;
    const marker = Buffer.from(omission(left));
    return Buffer.concat([this.#head, marker, tail.subarray(start), tail.subarray(0, start)]);
  }

  end(maxBytes: number): Buffer {
    return (this.value() ?? Buffer.alloc(0)).subarray(-maxBytes);
  }

  #addToHead(bytes: Buffer): void {
    const length = this.#totalBytes + bytes.length;
    if (bytes.length === 0) return;
    if (length > this.#head.length) {
      const wanted = Math.max(FIRST_CAPACITY_BYTES, 2 * this.#head.length, length);
      const grown = Buffer.alloc(Math.min(wanted, CAPTURED_HALF_BYTES));
      this.#head.copy(grown);
      this.#head = grown;
    }
    bytes.copy(this.#head, this.#totalBytes);
  }

  #addToTail(bytes: Buffer, offset: number): void {
    this.#tail ??= Buffer.alloc(CAPTURED_HALF_BYTES);
    const last = bytes.subarray(-CAPTURED_HALF_BYTES);
    const start = (offset + bytes.length - last.length) % CAPTURED_HALF_BYTES;
    const copied = last.copy(this.#tail, start);
    last.copy(this.#tail, 0, copied);
  }
}

export function omission(leftOutBytes: number): string {
  return `\n[wins: ${leftOutBytes} bytes are omitted here; a file on the node has the whole output]\n`;
}
