import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { FeatureError } from '../../kernel/feature-error.js';

/** A snapshot blocks the event loop for about 10 s per 100 MB of small objects, as measured on one slow core. */
const LARGEST_HEAP_BYTES = 64 * 1024 * 1024;
/** Observed maximum of additional memory for a snapshot, as a multiple of the heap in use. */
const HEAP_COST = 16;
export const PIECE_BYTES = 64 * 1024;

/** Checks that a snapshot does no harm. Pure. @throws FeatureError `tooLarge`. */
export function requireHeapRoom({ usedBytes, availableBytes }: ReturnType<typeof roomNow>): void {
  const tried = 'cannot take a heap snapshot';
  if (usedBytes > LARGEST_HEAP_BYTES) {
    const message = `${tried}: the heap has ${usedBytes} bytes (limit ${LARGEST_HEAP_BYTES}), so the daemon would pause for too long`;
    throw new FeatureError('tooLarge', message);
  }
  if (availableBytes < usedBytes * HEAP_COST) {
    const message = `${tried}: it needs ${usedBytes * HEAP_COST} bytes of memory, and ${availableBytes} are free`;
    throw new FeatureError('tooLarge', message);
  }
}

/** Yields chunks of 64 KiB. The event loop is blocked meanwhile, and the text is held in memory. @throws FeatureError `tooLarge`. */
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

function roomNow() {
  // Available since Node 20.19; the type definitions are older.
  const { availableMemory } = process as { availableMemory?: () => number };
  return {
    usedBytes: getHeapStatistics().used_heap_size,
    availableBytes: availableMemory?.() ?? Infinity,
  };
}
