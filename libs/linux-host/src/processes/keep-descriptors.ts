import { readdirSync } from 'node:fs';
import { loadCLibrary } from '../c-library.js';

const STDERR = 2;
// https://man7.org/linux/man-pages/man2/fcntl.2.html
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/**
 * Keeps the descriptors that this process inherited from the programs that it starts. Node does so itself only up to the first unused
 * number above 15. Call this before the first start.
 *
 * @throws LinuxError `unavailable` on other systems, or when the addon cannot be loaded.
 */
export function keepDescriptors(): void {
  const { fcntl } = loadCLibrary();
  for (const name of readdirSync('/proc/self/fd'))
    if (Number(name) > STDERR) fcntl(Number(name), F_SETFD, 'int', FD_CLOEXEC);
}
