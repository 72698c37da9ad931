import type { StopRequest } from '@wins/base';
import { call } from '../win32/calls/call.js';
import { addressOfFunction, systemLibrary } from '../win32/calls/system-library.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { unlessFails } from '../windows-error.js';
import { processesIn } from './job-object.js';
import { signalEvent } from './named-event.js';
import { isInJob, PROCESS_QUERY_INFORMATION, withProcess } from './windows-process.js';

const CTRL_BREAK_EVENT = 1;
/** Rights that CreateRemoteThread needs: to query the process, to create a thread, and to use, read and write memory. */
const MAY_START_THREAD = 0x2 | 0x8 | 0x10 | 0x20 | PROCESS_QUERY_INFORMATION;
const WM_CLOSE = 0x10;
/** Limits the search, because other programs on the desktop may create windows endlessly. */
const MAX_WINDOWS = 65_536;

// https://learn.microsoft.com/windows/win32/api/winuser
const user32 = systemLibrary('user32.dll', 'Windows', [
  'intptr_t FindWindowExW(intptr_t parent, intptr_t after, str16 class_, str16 title)',
  'uint32_t GetWindowThreadProcessId(intptr_t window, _Out_ uint32_t *pid)',
  'int PostMessageW(intptr_t window, uint32_t message, uintptr_t first, intptr_t second)',
]);

/** Returns true if it signalled the event or reached a process of the job. @throws WindowsError */
export function askToEnd(job: Handle, { signal, event }: StopRequest): boolean {
  if (event !== undefined) {
    signalEvent(event);
    return true;
  }
  if (signal === 'CTRL_BREAK')
    return processesIn(job).filter((pid) => breakOff(pid, job)).length > 0;
  return signal === 'WM_CLOSE' && closeWindows(job);
}

/**
 * Starts a thread in process `pid` to run the system's own routine for Ctrl-Break. So the daemon needs no console and
 * reaches no other process. Skips 32-bit processes, because the routine is at a different address there.
 */
function breakOff(pid: number, job: Handle): boolean {
  const asked = unlessFails(() =>
    withProcess(pid, MAY_START_THREAD, (process) => {
      const isWow64: [number] = [0];
      call('cannot query the kind of a process', kernel32.IsWow64Process, process, isWow64);
      // Check the job, because the PID may have been reused.
      if (isWow64[0] !== 0 || !isInJob(process, job)) return false;
      const routine = addressOfFunction('kernelbase.dll', 'CtrlRoutine');
      const { CreateRemoteThread } = kernel32;
      const event = BigInt(CTRL_BREAK_EVENT);
      const tried = `cannot send Ctrl-Break to process ${pid}`;
      const thread = call(tried, CreateRemoteThread, process, null, 0, routine, event, 0, [0]);
      kernel32.CloseHandle(thread);
      return true;
    }),
  );
  return asked ?? false;
}

/** Posts `WM_CLOSE` to the job's windows on this process's desktop, including hidden ones. */
function closeWindows(job: Handle): boolean {
  const wanted = new Set(processesIn(job));
  const { FindWindowExW, GetWindowThreadProcessId, PostMessageW } = user32;
  let isAsked = false;
  let window = FindWindowExW(0, 0, null, null);
  for (let count = 0; window !== 0 && count < MAX_WINDOWS; count += 1) {
    const pid: [number] = [0];
    GetWindowThreadProcessId(window, pid);
    if (wanted.has(pid[0])) isAsked = PostMessageW(window, WM_CLOSE, 0, 0) !== 0 || isAsked;
    window = FindWindowExW(0, window, null, null);
  }
  return isAsked;
}
