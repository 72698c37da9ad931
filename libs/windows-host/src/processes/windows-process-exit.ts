import { check, type Handle } from '../win32/kernel32.js';
import type { OwnedHandle } from '../win32/calls/owned-handle.js';
import { processes } from '../win32/processes.js';
import {
  INFINITE,
  WAIT_FOR_CALLBACKS,
  waits,
  WT_EXECUTELONGFUNCTION,
  WT_EXECUTEONLYONCE,
} from '../win32/calls/waits.js';

/** The longest that a timer of Node can run. */
const LONGEST_MS = 2_147_483_647;

/**
 * Resolves with the exit code of a process, 0 to 2^32-1, when it ends; never rejects. Takes the handle over and closes it then.
 * No thread of Node's pool waits: the system's own pool does. The event loop is kept alive until the process ends.
 *
 * @throws WindowsError when the system cannot wait; the handle is still the caller's.
 */
export function exitOf(process: OwnedHandle): Promise<number> {
  const { registerCallback, unregisterCallback, ...calls } = waits();
  let resolve: (code: number) => void = () => undefined;
  const exited = new Promise<number>((settle) => (resolve = settle));
  const wait: [Handle] = [0];
  const ended = registerCallback(() => {
    // The thread that called must have returned before its callback may be taken away.
    setImmediate(() => {
      clearInterval(keepAlive);
      calls.UnregisterWaitEx(wait[0], WAIT_FOR_CALLBACKS);
      unregisterCallback(ended);
      const code: [number] = [0];
      processes().GetExitCodeProcess(process.value, code);
      process.close();
      resolve(code[0]);
    });
  });
  const keepAlive = setInterval(() => undefined, LONGEST_MS);
  try {
    const flags = WT_EXECUTEONLYONCE | WT_EXECUTELONGFUNCTION;
    const done = calls.RegisterWaitForSingleObject(wait, process.value, ended, 0, INFINITE, flags);
    check(done !== 0, 'RegisterWaitForSingleObject', 'waited for the end of a process');
  } catch (error) {
    clearInterval(keepAlive);
    unregisterCallback(ended);
    throw error;
  }
  return exited;
}
