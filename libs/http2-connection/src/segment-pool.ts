export const SEGMENT_OCTETS = 4 * 1024;
/** Number of segments that are never released: 4 MiB. */
const ALWAYS_KEPT = 1024;
/** Period after which unused segments above that number are released. */
const PERIOD_MS = 1000;

/**
 * Reusable memory for messages in transit. A client that keeps beginning messages without ending them would otherwise create garbage faster
 * than it is collected: segments outlive the young generation, so they are only freed by a full garbage collection. Old content of a
 * segment never leaks, because only octets written since are read.
 *
 * The pool grows to the peak number of segments in use. Segments unused for a second are released, down to 4 MiB.
 */
export class SegmentPool {
  readonly #kept: Buffer[] = [];
  /** Lowest number of free segments since the last check: that many were not needed. */
  #spare = 0;
  #look: NodeJS.Timeout | undefined;

  take(): Buffer {
    const segment = this.#kept.pop();
    this.#spare = Math.min(this.#spare, this.#kept.length);
    return segment ?? Buffer.allocUnsafeSlow(SEGMENT_OCTETS);
  }

  /** Takes segments back; the caller must not use them afterwards. */
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
