import { setFlagsFromString } from 'node:v8';

/**
 * How much larger than what it holds the heap may become before all of it is marked, in percent. The least that lets output pass
 * with a heap of 11 MB is 300: V8 counts up to 32 MiB of buffers as growth before it collects young objects.
 */
const GROWING_PERCENT = 320;

/**
 * Bounds the heap of a daemon that has loaded its programs: how far it grows until all of it is marked, and that the place for young
 * objects does not grow. Both flags are read by V8 each time that it computes the next limit, so they may be set while a program
 * runs; a V8 that does not know one prints a line and goes on. What is loaded afterwards finds no code cache.
 *
 * Growth: by its own measure V8 allows the small heap of a daemon less than the buffers that come between two collections of young
 * objects, so while output flowed it marked everything every few milliseconds. A larger growth is garbage that an attacker can make.
 *
 * Young objects: their place has 4 MiB by now, and would become 16 MiB under load, three times. It may become smaller again, as V8 sees
 * fit, and stays so.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString('--semi-space-growth-factor=1');
}
