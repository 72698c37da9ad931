import assert from 'node:assert/strict';
import { openJob } from '../processes/job-object.js';
import { systemLibrary } from '../win32/calls/system-library.js';

// https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesshandlecount
const library = systemLibrary('kernel32.dll', 'Windows', [
  'int GetProcessHandleCount(intptr_t process, _Out_ uint32_t *count)',
]);

/** Returns the number of handles that this process has open. Under Wine, returns another value that grows with this number. */
export function handlesInUse(): number {
  const count: [number] = [0];
  assert.notEqual(library.GetProcessHandleCount(-1, count), 0);
  if (count[0] > 0) return count[0];
  // Wine does not count handles. A new handle is the lowest free multiple of four, so the highest of 30 grows with the number in use.
  const fresh = Array.from({ length: 30 }, () => openJob());
  const highest = Math.max(...fresh.map(({ value }) => value / 4));
  for (const job of fresh) job.close();
  return highest;
}
