import { setFlagsFromString } from 'node:v8';

/**
 * Growth of the heap, in percent of its live size, before a full mark. With a heap of 11 MB, output needs at least 300, because V8 counts
 * up to 32 MiB of buffers as growth before it collects young objects.
 */
const GROWING_PERCENT = 320;

/**
 * Limits the heap of a daemon that has loaded its programs: the growth before a full mark, and the size of the young generation. V8 reads
 * both flags each time it computes the next limit, so they may be set at run time; a V8 that does not know a flag prints a line and
 * continues. Code that is loaded later gets no code cache.
 *
 * Growth: V8's default for a small heap is less than the buffers between two collections of young objects, so it would run a full mark
 * every few milliseconds while output flows. A larger limit would let an attacker create more garbage.
 *
 * Young generation: it has 4 MiB by now and would grow to three times 16 MiB under load. V8 may still shrink it.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString('--semi-space-growth-factor=1');
}
