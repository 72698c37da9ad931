import { setFlagsFromString } from 'node:v8';

/** How much larger than what it holds the heap may become before all of it is marked, in percent. */
const GROWING_PERCENT = 400;

/**
 * Lets V8 wait longer before it marks the whole heap. Each buffer of a stream counts as growth until the next collection of young
 * objects, which comes after 32 MiB of them. By its own measure V8 allows the small heap of a daemon less than that, so while output
 * flowed it marked everything every few milliseconds, and a daemon did so from its first full collection to its end.
 *
 * V8 reads this flag each time it computes the next limit (`MemoryController::GrowingFactor`), so it may be set while a
 * program runs; a V8 that does not know it prints a line and goes on.
 */
export function delayFullCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
