import { errnoOf } from '../node-errors.js';

/**
 * Signals a process, or a group when `pid` is negative. That it is gone is what was wanted; that it
 * may not be signalled shows in that it stays.
 */
export function sendSignal(pid: number, mode: 'graceful' | 'force'): void {
  try {
    process.kill(pid, mode === 'graceful' ? 'SIGTERM' : 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
  }
}
