import type { LinuxProcessEntry } from './linux-process-entry.js';

export type MeasuredProcess = Pick<
  LinuxProcessEntry,
  'pid' | 'parentPid' | 'startTicks' | 'cpuTicks'
>;

// USER_HZ, the kernel's unit of time for programs: 100 on every architecture that Node supports.
// https://man7.org/linux/man-pages/man7/time.7.html
const MS_PER_TICK = 10;

/**
 * Sums the CPU time of a process tree. When a process ends, the kernel adds its time to the parent that waited for it.
 * If the tree has no such parent, the last measured time counts.
 */
export class TreeCpuTime {
  #seen = new Map<number, MeasuredProcess>();
  #lostTicks = 0;
  #mostMs = 0;

  /** Returns the total time so far in milliseconds, which never decreases. */
  update(living: readonly MeasuredProcess[]): number {
    const now = new Map(living.map((each) => [each.pid, each]));
    for (const each of this.#seen.values()) {
      if (!isSame(now.get(each.pid), each) && !this.#hasLivingAncestor(each, now)) {
        this.#lostTicks += each.cpuTicks;
      }
    }
    this.#seen = now;
    const ticks = living.reduce((sum, { cpuTicks }) => sum + cpuTicks, this.#lostTicks);
    this.#mostMs = Math.max(this.#mostMs, ticks * MS_PER_TICK);
    return this.#mostMs;
  }

  #hasLivingAncestor(process: MeasuredProcess, now: ReadonlyMap<number, MeasuredProcess>): boolean {
    const passed = new Set<number>();
    let parent = this.#seen.get(process.parentPid);
    while (parent !== undefined && !passed.has(parent.pid)) {
      if (isSame(now.get(parent.pid), parent)) return true;
      passed.add(parent.pid);
      parent = this.#seen.get(parent.parentPid);
    }
    return false;
  }
}

function isSame(one: MeasuredProcess | undefined, other: MeasuredProcess): boolean {
  return one?.startTicks === other.startTicks;
}
