import { loadCLibrary } from './c-library.js';

/**
 * Returns a function that gives freed memory back to the system. The C library keeps it for later use: up to hundreds of megabytes
 * after many buffers, for which the call takes some milliseconds.
 *
 * @returns undefined where the C library has no such call: only that of GNU has.
 * @throws LinuxError `unavailable` elsewhere than on Linux, and where the addon that calls it cannot be loaded.
 */
export function freeMemoryTrimmer(): (() => void) | undefined {
  const { malloc_trim: trim } = loadCLibrary();
  return trim && (() => void trim(0));
}
