import { loadCLibrary } from './c-library.js';

/**
 * A call that gives back to the system what the C library keeps of freed memory, for use to come: up to hundreds of megabytes
 * after many buffers. It takes some milliseconds for as much.
 *
 * @returns undefined where the C library has none: only that of GNU does.
 * @throws LinuxError `unavailable` elsewhere than on Linux, and where the addon that calls it cannot be loaded.
 */
export function freeMemoryTrimmer(): (() => void) | undefined {
  const { malloc_trim: trim } = loadCLibrary();
  return trim && (() => void trim(0));
}
