import { call, OwnedHandle } from '../win32/calls/call.js';
import { signalledOnce } from '../win32/calls/event-waits.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { systemError, unlessFails, WindowsError } from '../windows-error.js';
import { PROCESSENTRY32W } from '../win32/structures.js';

/** Identifies a process uniquely, unlike its PID, which the system reuses. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Creation time, in units of 100 ns since 1601, decimal. */
  readonly created: string;
}

const PROCESS_TERMINATE = 0x1;
export const PROCESS_QUERY_INFORMATION = 0x400;
const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
const SYNCHRONIZE = 0x10_0000;
const WAIT_TIMEOUT = 258;

/** taskkill and Node use this exit code, too. */
export const TERMINATED_EXIT_CODE = 1;
/** From 1601 to 1970, in milliseconds. */
const UNIX_EPOCH_MS = 11_644_473_600_000;
const UNITS_PER_MS = 10_000n;

export function creationTime(process: Handle): string {
  const created: [number | bigint] = [0];
  const tried = 'cannot query the creation time of a process';
  call(tried, kernel32.GetProcessTimes, process, created, [0], [0], [0]);
  return String(created[0]);
}

/** Identity of this process. @throws WindowsError */
export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  const own = processIdentity(pid);
  if (own !== undefined) return own;
  throw new WindowsError('notFound', `cannot find this process: there is no process ${pid}`);
}

/** Undefined when no process has this PID now. @throws WindowsError */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const created = withProcess(pid, 0, creationTime);
  return created === undefined ? undefined : { pid, created };
}

/** In milliseconds since 1970; undefined when there is no such process, or it may not be queried. */
export function processStartedAtMs(pid: number): number | undefined {
  const created = unlessFails(() => processIdentity(pid)?.created);
  if (created === undefined) return undefined;
  return Number(BigInt(created) / UNITS_PER_MS) - UNIX_EPOCH_MS;
}

/** Returns true if exactly this process runs, or if it may not be queried. @throws WindowsError for other failures. */
export function isRunning({ pid, created }: ProcessIdentity): boolean {
  const isIt = (handle: Handle): boolean => runs(handle) && creationTime(handle) === created;
  try {
    return withProcess(pid, SYNCHRONIZE, isIt) ?? false;
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'accessDenied') return true;
    throw error;
  }
}

/** Parses `PID:CREATED`, the text of `ProcessHost.daemon` on Windows. */
export function processOfText(text: string): ProcessIdentity | undefined {
  const [, pid, created = ''] = /^([1-9][0-9]{0,9}):([0-9]{1,20})$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), created };
}

/** Ends exactly this process, if it runs; it exits with 1. @throws WindowsError */
export function endProcess({ pid, created }: ProcessIdentity): void {
  withProcess(pid, SYNCHRONIZE | PROCESS_TERMINATE, (handle) => {
    // While the handle is open, its PID is not reused.
    if (creationTime(handle) !== created) return;
    const { GetLastError, TerminateProcess } = kernel32;
    const isEnded = TerminateProcess(handle, TERMINATED_EXIT_CODE) !== 0;
    const errorNumber = GetLastError();
    if (isEnded || !runs(handle)) return;
    const functionName = 'TerminateProcess';
    throw systemError(`cannot end process ${pid}`, { functionName, errorNumber });
  });
}

/** Undefined when the system does not report the path. */
export function imageOf(process: Handle): string | undefined {
  // Tries a small buffer first: most paths are short, and each start of a daemon queries all processes.
  for (const sizeBytes of [1_024, 65_536]) {
    const name = Buffer.alloc(sizeBytes);
    const characters: [number] = [sizeBytes / 2];
    if (kernel32.QueryFullProcessImageNameW(process, 0, name, characters) !== 0) {
      return name.toString('utf16le', 0, characters[0] * 2);
    }
  }
  return undefined;
}

/**
 * Undefined when no process has that PID.
 *
 * @param access - Rights besides PROCESS_QUERY_LIMITED_INFORMATION.
 */
export function withProcess<T>(pid: number, access: number, use: (handle: Handle) => T) {
  const tried = `cannot open process ${pid}`;
  const wanted = access | PROCESS_QUERY_LIMITED_INFORMATION;
  // The system reports a missing process as an invalid argument.
  const open = (): Handle => call(tried, kernel32.OpenProcess, wanted, 0, pid);
  const handle = unlessFails(open, 'invalidArgument');
  if (handle === undefined) return undefined;
  using opened = new OwnedHandle(handle);
  return use(opened.value);
}

/**
 * Returns a promise of the exit code, 0 to 2^32-1. The promise never rejects. Takes ownership of the handle, and closes
 * it when the process has ended. Keeps the event loop alive until then.
 *
 * @throws WindowsError synchronously when the system cannot wait. In that case, the caller still owns the handle.
 */
export function exitOf(process: OwnedHandle): Promise<number> {
  return signalledOnce(process.value, 'cannot wait for the end of a process').then(() => {
    const code: [number] = [0];
    kernel32.GetExitCodeProcess(process.value, code);
    process.close();
    return code[0];
  });
}

/** Without `job`, returns true for a process in any job. */
export function isInJob(process: Handle, job: Handle = 0): boolean {
  const result: [number] = [0];
  return kernel32.IsProcessInJob(process, job, result) !== 0 && result[0] !== 0;
}

function runs(process: Handle): boolean {
  return kernel32.WaitForSingleObject(process, 0) === WAIT_TIMEOUT;
}

const TH32CS_SNAPPROCESS = 0x2;

export interface ProcessEntry extends ProcessIdentity {
  /** The parent may have ended, and its PID may be reused. */
  readonly parentPid: number;
  /** Path of the program; undefined when the system does not report it. */
  readonly image: string | undefined;
  readonly isInJob: boolean;
}

/** Omits processes that this account may not query. @throws WindowsError */
export function listProcesses(): ReadonlyMap<number, ProcessEntry> {
  const found = new Map<number, ProcessEntry>();
  for (const { th32ProcessID: pid, th32ParentProcessID: parentPid } of snapshotEntries()) {
    const facts = askAbout(pid);
    if (facts !== undefined) found.set(pid, { pid, parentPid, ...facts });
  }
  return found;
}

/**
 * Returns the creation time of the oldest process of a session, which distinguishes the session from a later one with
 * the same number. Undefined when no process can be queried.
 */
export function sessionStart(session: number): string | undefined {
  const { ProcessIdToSessionId } = kernel32;
  let oldest: bigint | undefined;
  for (const { th32ProcessID: pid } of snapshotEntries()) {
    const found: [number] = [0];
    if (ProcessIdToSessionId(pid, found) === 0 || found[0] !== session) continue;
    const created = unlessFails(() => withProcess(pid, 0, creationTime));
    if (created === undefined) continue;
    if (oldest === undefined || BigInt(created) < oldest) oldest = BigInt(created);
  }
  return oldest?.toString();
}

export function programNameOf(pid: number): string | undefined {
  for (const entry of snapshotEntries()) if (entry.th32ProcessID === pid) return entry.szExeFile;
  return undefined;
}

function* snapshotEntries(): Generator<ReturnType<typeof PROCESSENTRY32W.read>> {
  const tried = 'cannot list the processes';
  const { CreateToolhelp32Snapshot, Process32FirstW, Process32NextW } = kernel32;
  using snapshot = new OwnedHandle(call(tried, CreateToolhelp32Snapshot, TH32CS_SNAPPROCESS, 0));
  const entry = PROCESSENTRY32W.create({ dwSize: PROCESSENTRY32W.sizeBytes });
  call(tried, Process32FirstW, snapshot.value, entry);
  do yield PROCESSENTRY32W.read(entry);
  while (Process32NextW(snapshot.value, entry) !== 0);
}

/** Omits processes that this account may not query. @throws WindowsError */
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
  // Skip processes that may not be queried: no daemon started them.
  return unlessFails(() =>
    // Only Wine requires this right; on Windows the limited right suffices.
    withProcess(pid, PROCESS_QUERY_INFORMATION, (handle) => ({
      created: creationTime(handle),
      image: imageOf(handle),
      isInJob: isInJob(handle),
    })),
  );
}

/** Includes the process itself. */
export function ancestry(processes: ReadonlyMap<number, ProcessEntry>, pid: number): Set<number> {
  const pids = new Set([pid]);
  for (let at = processes.get(pid); at !== undefined; at = parentOf(processes, at)) {
    pids.add(at.pid);
  }
  return pids;
}

/** Ignores a parent that is younger than its child: such a process reuses the real parent's PID. */
export function parentOf(
  processes: ReadonlyMap<number, ProcessEntry>,
  { pid, parentPid, created }: ProcessEntry,
): ProcessEntry | undefined {
  const parent = processes.get(parentPid);
  const isOlder =
    parent !== undefined && parent.pid !== pid && BigInt(parent.created) < BigInt(created);
  return isOlder ? parent : undefined;
}

/** Returns true if `pid` is an ancestor of this process, and all processes between them still run. @throws WindowsError */
export function isBelow(pid: number): boolean {
  return pid !== process.pid && ancestry(listProcesses(), process.pid).has(pid);
}
