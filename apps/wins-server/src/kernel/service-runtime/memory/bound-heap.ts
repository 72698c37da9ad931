import { setFlagsFromString } from 'node:v8';

/** Growth of the heap before a full mark. Output needs at least 300, because V8 counts up to 32 MiB of buffers as growth. */
const GROWING_PERCENT = 320;

/**
 * Bounds the growth of the heap and the young generation. V8 reads both flags each time it computes a limit, so they may be set at run
 * time; a V8 that does not know a flag prints a line and continues. Code that is loaded later gets no code cache.
 *
 * Growth: V8's default is less than the buffers between two collections of young objects, so output would cause a full mark every few
 * milliseconds. A larger limit would let an attacker create more garbage. Young generation: 4 MiB by now; under load it would grow to three
 * times 16 MiB.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString('--semi-space-growth-factor=1');
}
