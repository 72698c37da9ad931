import { check, INVALID_HANDLE_VALUE, type Handle } from '../win32/kernel32.js';
import { jobs } from '../win32/jobs.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { PROCESS_QUERY_INFORMATION, processes, TH32CS_SNAPPROCESS } from '../win32/processes.js';
import { WindowsError } from '../windows-error.js';
import { creationTime, imageOf, withProcess, type ProcessIdentity } from './windows-process.js';

/** A process among all of this machine. */
export interface ProcessEntry extends ProcessIdentity {
  /** The number of what started it, which may have ended and been given again. */
  readonly parentPid: number;
  /** The path of the program; `undefined` when the system does not tell. */
  readonly image: string | undefined;
  readonly isInJob: boolean;
}

/** PROCESSENTRY32W. */
const ENTRY_BYTES = 568;

/**
 * The processes of this machine that this account may ask about, by number.
 *
 * @throws WindowsError when the system does not list them.
 */
export function listProcesses(): ReadonlyMap<number, ProcessEntry> {
  const tried = 'listed the processes';
  const { CreateToolhelp32Snapshot, Process32FirstW, Process32NextW } = processes();
  const handle = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  check(handle !== INVALID_HANDLE_VALUE, 'CreateToolhelp32Snapshot', tried);
  const snapshot = new OwnedHandle(handle);
  const found = new Map<number, ProcessEntry>();
  try {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(ENTRY_BYTES, 0);
    check(Process32FirstW(snapshot.value, entry) !== 0, 'Process32FirstW', tried);
    do {
      const pid = entry.readUInt32LE(8);
      const facts = askAbout(pid);
      if (facts !== undefined) {
        found.set(pid, { pid, parentPid: entry.readUInt32LE(32), ...facts });
      }
    } while (Process32NextW(snapshot.value, entry) !== 0);
    return found;
  } finally {
    snapshot.close();
  }
}

/**
 * The processes that run a program, as far as this account may ask about them.
 *
 * @param program - Its path; names have no case.
 * @throws WindowsError when the system does not list them.
 */
export function processesOf(program: string): readonly ProcessIdentity[] {
  const wanted = plain(program);
  return [...listProcesses().values()]
    .filter(({ image }) => image !== undefined && plain(image) === wanted)
    .map(({ pid, created }) => ({ pid, created }));
}

function plain(file: string): string {
  return file.replaceAll('/', '\\').toLowerCase();
}

function askAbout(pid: number): Omit<ProcessEntry, 'pid' | 'parentPid'> | undefined {
  try {
    // Windows tells the job for less; Wine wants the full right to ask. What a daemon started, it may ask.
    return withProcess(pid, PROCESS_QUERY_INFORMATION, (handle) => ({
      created: creationTime(handle),
      image: imageOf(handle),
      isInJob: isInJob(handle),
    }));
  } catch (error) {
    // Of the system's own, or of someone who keeps it to himself: none that a daemon has started.
    if (error instanceof WindowsError) return undefined;
    throw error;
  }
}

/** Whether a process is in any job. */
export function isInJob(handle: Handle): boolean {
  const result: [number] = [0];
  return jobs().IsProcessInJob(handle, 0, result) !== 0 && result[0] !== 0;
}
