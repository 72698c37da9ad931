import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { FeatureError } from '../../kernel/feature-error.js';

/**
 * The largest heap of which a snapshot is taken, in bytes that are in use. The event loop stops while it is taken: for about 10 s for
 * each 100 MB of small objects, as measured on one slow core, and for far less where the objects are large.
 */
const LARGEST_HEAP_BYTES = 64 * 1024 * 1024;
/** So many times what is in use is the most that taking a snapshot was seen to need beside it. */
const HEAP_COST = 16;
/** For a reader of a file, bytes at a time. */
export const PIECE_BYTES = 64 * 1024;

/** Whether a snapshot can be taken without harm. Pure. @throws FeatureError `tooLarge`. */
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

/**
 * Everything that is in the heap, secrets included, as a `.heapsnapshot` file. The event loop stops while it is taken and while its text
 * is made. The text is in memory as a whole, and given out in pieces of 64 KiB.
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

/** Measures the heap and the memory that this process may still use. */
function roomNow() {
  // Node 20.19 has it; the types are older than that.
  const { availableMemory } = process as { availableMemory?: () => number };
  return {
    usedBytes: getHeapStatistics().used_heap_size,
    availableBytes: availableMemory?.() ?? Infinity,
  };
}
