/** Octets of a segment. */
export const SEGMENT_OCTETS = 4 * 1024;
/** Segments that are kept whatever happens: 4 MiB. */
const ALWAYS_KEPT = 1024;
/** How long others are kept that nothing needs. */
const PERIOD_MS = 1000;

/**
 * Memory for messages on their way, used again and again: who begins messages and never ends them, over and over, would leave
 * garbage faster than it is collected. Segments live longer than young objects may, so garbage of them waits for a collection of the
 * whole heap. What a segment held before is never handed on, for only what was written since is read.
 *
 * It keeps as many as were in use at a time. It releases segments that nothing needed for a second, down to 4 MiB.
 */
export class SegmentPool {
  readonly #kept: Buffer[] = [];
  /** The fewest that were kept since the last look: so many are needed by nothing. */
  #spare = 0;
  #look: NodeJS.Timeout | undefined;

  take(): Buffer {
    const segment = this.#kept.pop();
    this.#spare = Math.min(this.#spare, this.#kept.length);
    return segment ?? Buffer.allocUnsafeSlow(SEGMENT_OCTETS);
  }

  /** Gives segments back, which must not be used any more. */
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
