import { check, type Handle } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  PROCESS_QUERY_LIMITED_INFORMATION,
  PROCESS_TERMINATE,
  processes,
  SYNCHRONIZE,
  WAIT_TIMEOUT,
} from '../win32/processes.js';
import { WindowsError } from '../windows-error.js';

/** What identifies a process forever: numbers are given again, and then the time differs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was created, in units of 100 ns since 1601, decimal. */
  readonly created: string;
}

const TERMINATED_EXIT_CODE = 1;
/** From 1601 to 1970, in milliseconds. */
const UNIX_EPOCH_MS = 11_644_473_600_000;
const UNITS_PER_MS = 10_000n;

/** When a process was created. @throws WindowsError */
export function creationTime(process: Handle): string {
  const created: [number | bigint] = [0];
  const done = processes().GetProcessTimes(process, created, [0], [0], [0]);
  check(done !== 0, 'GetProcessTimes', 'asked when a process was created');
  return String(created[0]);
}

/** This process. @throws WindowsError */
export function ownIdentity(): ProcessIdentity {
  const own = processIdentity(process.pid);
  if (own !== undefined) return own;
  throw new WindowsError('notFound', `looked for this process: there is no process ${process.pid}`);
}

/** Which process has this number now; `undefined` when none has. @throws WindowsError */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const created = withProcess(pid, 0, creationTime);
  return created === undefined ? undefined : { pid, created };
}

/** Start of a process in milliseconds since 1970; undefined for none, or one that hides it. */
export function processStartedAt(pid: number): number | undefined {
  try {
    const created = processIdentity(pid)?.created;
    if (created === undefined) return undefined;
    return Number(BigInt(created) / UNITS_PER_MS) - UNIX_EPOCH_MS;
  } catch (error) {
    if (error instanceof WindowsError) return undefined;
    throw error;
  }
}

/**
 * Whether exactly this process runs. One that may not be asked counts as running.
 *
 * @throws WindowsError when the system does not tell.
 */
export function isRunning({ pid, created }: ProcessIdentity): boolean {
  try {
    return (
      withProcess(pid, SYNCHRONIZE, (handle) => runs(handle) && creationTime(handle) === created) ??
      false
    );
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'accessDenied') return true;
    throw error;
  }
}

/** Ends exactly this process, if it runs; it exits with 1. @throws WindowsError */
export function endProcess({ pid, created }: ProcessIdentity): void {
  withProcess(pid, SYNCHRONIZE | PROCESS_TERMINATE, (handle) => {
    // While the handle is open its number is not given to another process.
    if (creationTime(handle) !== created) return;
    const ended = processes().TerminateProcess(handle, TERMINATED_EXIT_CODE) !== 0;
    check(ended || !runs(handle), 'TerminateProcess', `ended process ${pid}`);
  });
}

/** The program that a process runs, by its path; `undefined` when the system does not tell. */
export function imageOf(process: Handle): string | undefined {
  // All processes are asked for each start: most paths are short.
  for (const sizeBytes of [1_024, 65_536]) {
    const name = Buffer.alloc(sizeBytes);
    const characters: [number] = [sizeBytes / 2];
    if (processes().QueryFullProcessImageNameW(process, 0, name, characters) !== 0) {
      return name.toString('utf16le', 0, characters[0] * 2);
    }
  }
  return undefined;
}

/**
 * Does something with an open process; `undefined` when no process has that number.
 *
 * @param access rights besides PROCESS_QUERY_LIMITED_INFORMATION.
 * @throws WindowsError
 */
export function withProcess<T>(
  pid: number,
  access: number,
  use: (handle: Handle) => T,
): T | undefined {
  const tried = `opened process ${pid}`;
  let opened: OwnedHandle;
  try {
    const wanted = access | PROCESS_QUERY_LIMITED_INFORMATION;
    const handle = processes().OpenProcess(wanted, 0, pid);
    check(handle !== 0, 'OpenProcess', tried);
    opened = new OwnedHandle(handle);
  } catch (error) {
    // The system reports a missing process by this error.
    if (error instanceof WindowsError && error.code === 'invalidArgument') return undefined;
    throw error;
  }
  try {
    return use(opened.value);
  } finally {
    opened.close();
  }
}

function runs(process: Handle): boolean {
  return processes().WaitForSingleObject(process, 0) === WAIT_TIMEOUT;
}
