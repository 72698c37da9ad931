import { readFileSync } from 'node:fs';

/** How often the memory of a process is looked at. */
const LOOKS = 6;

/** The least and the most that a process had in memory, in bytes. */
interface MemoryRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Returns the memory of each process over several looks, one after each round of work. A single look says little, because the memory varies
 * with garbage that a process has not collected yet.
 */
export async function memoryOver(
  pids: readonly (number | undefined)[],
  work: () => Promise<unknown>,
): Promise<MemoryRange[]> {
  const looks: number[][] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await work();
    looks.push(pids.map(residentBytes));
  }
  return pids.map((_, index) => {
    const taken = looks.map((look) => look[index] ?? NaN);
    return { least: Math.min(...taken), most: Math.max(...taken) };
  });
}

/** Returns the certain growth of each process, in bytes: the least after, minus the most before. */
export function memoryGrowth(
  before: readonly MemoryRange[],
  after: readonly MemoryRange[],
): number[] {
  return after.map(({ least }, index) => least - (before[index]?.most ?? NaN));
}

/** Returns the resident memory of a process now, in bytes. */
export function residentBytes(pid: number | undefined): number {
  return memoryField(pid, 'VmRSS');
}

/** The most that a process ever had in memory, in bytes: no moment is missed. */
export function peakBytes(pid: number | undefined): number {
  return memoryField(pid, 'VmHWM');
}

function memoryField(pid: number | undefined, name: string): number {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
}
