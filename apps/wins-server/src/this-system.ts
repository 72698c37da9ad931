import type { OperatingSystem } from './kernel/operating-system.js';

/** Executables contain the code of their own system only: the bundler drops the other branch. */
export async function thisSystem(): Promise<OperatingSystem> {
  if (process.platform === 'win32') {
    return (await import('./windows.js')).windows;
  } else {
    return (await import('./posix.js')).posix;
  }
}
