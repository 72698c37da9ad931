/**
 * What a service that runs for months needs of its process.
 *
 * It owns: log files of bounded size, the bounds of the heap, memory that is given back when it is no longer needed, and
 * the watch for an event loop that is blocked. It does not own: what is logged, and what is done about a blocked event loop.
 *
 * @example
 * boundHeap();
 * using _memory = returnMemory({});
 * using _stalls = watchStalls({ stalled: (lateMs) => console.warn(`blocked for ${lateMs} ms`) });
 * @module
 */
export { watchStalls, type StallWatchOptions } from './event-loop/stall-watch.js';
export {
  openRotatingLog,
  type RotatingLog,
  type RotatingLogOptions,
} from './log-files/rotating-log.js';
export { boundHeap } from './memory/bound-heap.js';
export { collectReads, returnMemory, type MemoryEffects } from './memory/memory-return.js';
