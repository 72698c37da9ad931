import type { OperatingSystem } from './kernel/operating-system.js';
import { posix } from './posix.js';
import { windows } from './windows.js';

/** Executables contain the code of their own system only: the bundler drops the other one. */
export function thisSystem(): OperatingSystem {
  return process.platform === 'win32' ? windows : posix;
}
