import type { OperatingSystem } from './operating-system.js';

/** Loads the operating system of this program. Code for other systems is not loaded, and is not part of an executable. */
export async function thisSystem(): Promise<OperatingSystem> {
  if (process.platform === 'win32') {
    return (await import('./windows.js')).windows;
  } else {
    return (await import('./posix.js')).posix;
  }
}
