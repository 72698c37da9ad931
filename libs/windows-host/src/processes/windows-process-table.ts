import { call } from '../win32/calls/call.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { kernel32 } from '../win32/kernel32.js';
import { PROCESSENTRY32W } from '../win32/structures.js';
import { unlessFails } from '../windows-error.js';
import {
  creationTime,
  imageOf,
  isInJob,
  PROCESS_QUERY_INFORMATION,
  withProcess,
  type ProcessIdentity,
} from './windows-process.js';

const TH32CS_SNAPPROCESS = 0x2;

/** A process among all of this machine. */
export interface ProcessEntry extends ProcessIdentity {
  /** The number of what started it, which may have ended and been given again. */
  readonly parentPid: number;
  /** The path of the program; `undefined` when the system does not tell. */
  readonly image: string | undefined;
  readonly isInJob: boolean;
}

/**
 * The processes of this machine that this account may ask about, by number.
 *
 * @throws WindowsError when the system does not list them.
 */
export function listProcesses(): ReadonlyMap<number, ProcessEntry> {
  const found = new Map<number, ProcessEntry>();
  for (const { th32ProcessID: pid, th32ParentProcessID: parentPid } of snapshotEntries()) {
    const facts = askAbout(pid);
    if (facts !== undefined) found.set(pid, { pid, parentPid, ...facts });
  }
  return found;
}

/** The file name of the program of a process, also of one that may not be asked; undefined when there is no such process. */
export function programNameOf(pid: number): string | undefined {
  for (const entry of snapshotEntries()) if (entry.th32ProcessID === pid) return entry.szExeFile;
  return undefined;
}

function* snapshotEntries(): Generator<ReturnType<typeof PROCESSENTRY32W.read>> {
  const tried = 'listed the processes';
  const { CreateToolhelp32Snapshot, Process32FirstW, Process32NextW } = kernel32;
  using snapshot = new OwnedHandle(call(tried, CreateToolhelp32Snapshot, TH32CS_SNAPPROCESS, 0));
  const entry = PROCESSENTRY32W.create({ dwSize: PROCESSENTRY32W.sizeBytes });
  call(tried, Process32FirstW, snapshot.value, entry);
  do yield PROCESSENTRY32W.read(entry);
  while (Process32NextW(snapshot.value, entry) !== 0);
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
  // Of the system's own, or of someone who keeps it to himself: none that a daemon has started.
  return unlessFails(() =>
    // Windows tells the job for less; Wine wants the full right to ask. What a daemon started, it may ask.
    withProcess(pid, PROCESS_QUERY_INFORMATION, (handle) => ({
      created: creationTime(handle),
      image: imageOf(handle),
      isInJob: isInJob(handle),
    })),
  );
}

/** A process and those that started it, itself or by others, as far as they run, by number. */
export function ancestry(processes: ReadonlyMap<number, ProcessEntry>, pid: number): Set<number> {
  const pids = new Set([pid]);
  for (let at = processes.get(pid); at !== undefined; at = parentOf(processes, at)) {
    pids.add(at.pid);
  }
  return pids;
}

/** A parent is older: what has its number and is younger is another process. */
export function parentOf(
  processes: ReadonlyMap<number, ProcessEntry>,
  { pid, parentPid, created }: ProcessEntry,
): ProcessEntry | undefined {
  const parent = processes.get(parentPid);
  const isOlder =
    parent !== undefined && parent.pid !== pid && BigInt(parent.created) < BigInt(created);
  return isOlder ? parent : undefined;
}

/**
 * Whether a process of this number started this one, itself or by others that still run.
 *
 * @throws WindowsError when the system does not list the processes.
 */
export function isBelow(pid: number): boolean {
  return pid !== process.pid && ancestry(listProcesses(), process.pid).has(pid);
}
