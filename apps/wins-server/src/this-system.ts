import type { OperatingSystem } from './operating-system.js';

/** The operating system that this program runs on; code for others is not loaded. */
export async function thisSystem(): Promise<OperatingSystem> {
  if (process.platform === 'win32') return (await import('./windows.js')).windows;
  return (await import('./posix.js')).posix;
}
