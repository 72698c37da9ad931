import { listProcesses, type ProcessEntry } from './windows-process-table.js';

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
