/** Octets of a segment. */
export const SEGMENT_OCTETS = 4 * 1024;
/** Segments that are kept for the next: 4 MiB. */
const MOST_KEPT = 1024;

/**
 * Memory for messages on their way, used again and again: who begins messages and never ends them, over and over, would leave
 * garbage faster than it is collected. What a segment held before is never handed on, for only what was written since is read.
 */
export class SegmentPool {
  private readonly kept: Buffer[] = [];

  take(): Buffer {
    return this.kept.pop() ?? Buffer.allocUnsafeSlow(SEGMENT_OCTETS);
  }

  /** Gives segments back, which must not be used any more. */
  give(segments: readonly Buffer[]): void {
    this.kept.push(...segments.slice(0, MOST_KEPT - this.kept.length));
  }
}
