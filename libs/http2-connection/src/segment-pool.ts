export const SEGMENT_OCTETS = 4 * 1024;
/** Number of segments that are always kept. They take 4 MiB. */
const ALWAYS_KEPT = 1024;
const PERIOD_MS = 1000;

/**
 * Reusable memory for incomplete messages. If each message got new memory, a client that never ends its messages would
 * create garbage faster than it is collected, because only a full garbage collection frees it. Old content never leaks,
 * because only newly written octets are read.
 *
 * Grows to the peak number of segments in use. Releases segments unused for a second, down to 4 MiB.
 */
export class SegmentPool {
  readonly #kept: Buffer[] = [];
  /** Lowest number of free segments since the last check: that many were not needed. */
  #spare = 0;
  #look: NodeJS.Timeout | undefined;

  /** Returns 4 KiB with undefined content. The caller gives the segment back. */
  take(): Buffer {
    const segment = this.#kept.pop();
    this.#spare = Math.min(this.#spare, this.#kept.length);
    return segment ?? Buffer.allocUnsafeSlow(SEGMENT_OCTETS);
  }

  /** The caller must not use the segments afterwards. */
  give(segments: readonly Buffer[]): void {
    for (const segment of segments) this.#kept.push(segment);
    if (this.#kept.length > ALWAYS_KEPT) {
      this.#look ??= setInterval(() => this.#letGo(), PERIOD_MS).unref();
    }
  }

  #letGo(): void {
    const most = Math.max(ALWAYS_KEPT, this.#kept.length - this.#spare);
    this.#kept.length = Math.min(this.#kept.length, most);
    this.#spare = this.#kept.length;
    if (this.#kept.length > ALWAYS_KEPT) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }
}
