import { readFileSync } from 'node:fs';

/** How often the memory of a process is looked at. */
const LOOKS = 6;

/** The least and the most that a process had in memory, in bytes. */
interface MemoryRange {
  readonly least: number;
  readonly most: number;
}

/**
 * What each process has in memory over several looks, one after each round of work. What a process takes differs with what it
 * has not collected yet, so that a single look says little.
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

/** What each process certainly needs more than before, in bytes: the least after against the most before. */
export function memoryGrowth(
  before: readonly MemoryRange[],
  after: readonly MemoryRange[],
): number[] {
  return after.map(({ least }, index) => least - (before[index]?.most ?? NaN));
}

/** What a process has in memory now, in bytes. */
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
