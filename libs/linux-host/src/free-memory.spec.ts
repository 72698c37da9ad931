import koffi from 'koffi';
import { freeMemoryTrimmer } from './c-library.js';

const onLinux = process.platform === 'linux' ? it : it.skip;
const MIB = 1024 * 1024;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: free memory, which only Linux takes back\n');

/** Frees all pieces but the last, which keeps the heap from shrinking. */
function takeAndFree(pieces: number, octets: number): void {
  const library = koffi.load(null);
  const malloc = library.func('void *malloc(size_t octets)') as (octets: number) => unknown;
  const free = library.func('void free(void *piece)') as (piece: unknown) => void;
  const fill = library.func('void *memset(void *piece, int octet, size_t octets)') as (
    ...parameters: readonly [unknown, number, number]
  ) => unknown;
  const taken = Array.from({ length: pieces }, () => malloc(octets));
  for (const piece of taken) fill(piece, 1, octets);
  for (const piece of taken.slice(0, -1)) free(piece);
}

onLinux('gives memory that was freed back to the system, where the C library can', () => {
  const trim = freeMemoryTrimmer();
  const isGnu = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;
  expect(trim !== undefined).toBe(isGnu);
  if (trim === undefined) return;
  trim();
  const before = process.memoryUsage.rss();
  takeAndFree(1024, 64 * 1024);
  const kept = process.memoryUsage.rss() - before;
  expect(kept).toBeGreaterThan(48 * MIB);
  trim();
  expect(process.memoryUsage.rss() - before).toBeLessThan(kept / 2);
});
