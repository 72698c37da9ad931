import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { FeatureError } from '../../kernel/feature-error.js';
import { DIAGNOSTIC_LIMITS, PIECE_BYTES } from './limits.js';

/** What is there to take a snapshot with, in bytes. */
export interface HeapRoom {
  /** What the heap holds. */
  readonly usedBytes: number;
  /** What this process may still take. */
  readonly availableBytes: number;
}

/**
 * Whether a snapshot can be taken without harm. Pure.
 *
 * @throws FeatureError `tooLarge`.
 */
export function requireHeapRoom({ usedBytes, availableBytes }: HeapRoom): void {
  const { largestHeapBytes, heapCost } = DIAGNOSTIC_LIMITS;
  const tried = 'cannot take a heap snapshot';
  if (usedBytes > largestHeapBytes) {
    const message = `${tried}: found ${usedBytes} bytes in use; wanted at most ${largestHeapBytes}: the event loop would stop for too long`;
    throw new FeatureError('tooLarge', message);
  }
  if (availableBytes < usedBytes * heapCost) {
    const message = `${tried}: found ${availableBytes} bytes of memory that are free; wanted ${usedBytes * heapCost}`;
    throw new FeatureError('tooLarge', message);
  }
}

/**
 * Everything that is in the heap, secrets included, as a `.heapsnapshot` file. The event loop stops while it is taken and while its text
 * is made: see {@link DIAGNOSTIC_LIMITS}. The text is in memory as a whole, and given out in pieces of 64 KiB.
 *
 * @throws FeatureError `tooLarge`.
 */
export async function* heapSnapshot(): AsyncGenerator<Buffer, void, void> {
  requireHeapRoom(roomNow());
  const snapshot: Readable = getHeapSnapshot();
  try {
    for (;;) {
      const piece = (snapshot.read(PIECE_BYTES) ?? snapshot.read()) as Buffer | null;
      if (piece !== null) yield piece;
      else if (snapshot.readableEnded) return;
      else await Promise.race([once(snapshot, 'readable'), once(snapshot, 'end')]);
    }
  } finally {
    snapshot.destroy();
  }
}

function roomNow(): HeapRoom {
  // Node 20.19 has it; the types are older than that.
  const { availableMemory } = process as { availableMemory?: () => number };
  return {
    usedBytes: getHeapStatistics().used_heap_size,
    availableBytes: availableMemory?.() ?? Infinity,
  };
}
