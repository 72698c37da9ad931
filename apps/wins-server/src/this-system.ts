import type { OperatingSystem } from './operating-system.js';

/** The operating system that this program runs on; code for others is not loaded, and an executable does not have it. */
export async function thisSystem(): Promise<OperatingSystem> {
  if (process.platform === 'win32') {
    return (await import('./windows.js')).windows;
  } else {
    return (await import('./posix.js')).posix;
  }
}
