import { errnoOf } from '@wins/wins-program';

/**
 * Signals a process, or a group when `pid` is negative. A process that has ended is no error, and neither is one that we may
 * not signal: the caller finds it still running.
 */
export function sendSignal(pid: number, mode: 'graceful' | 'force'): void {
  try {
    process.kill(pid, mode === 'graceful' ? 'SIGTERM' : 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
  }
}
