import { readFileSync } from 'node:fs';

/** Number of samples of the memory of a process. */
const LOOKS = 6;

/** The lowest and the highest memory of a process, in bytes. */
interface MemoryRange {
  readonly least: number;
  readonly most: number;
}

/** Samples the memory of each process after each round of work. One sample is not enough, because uncollected garbage makes the memory vary. */
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

/** Returns the minimum growth of each process, in bytes: the lowest value after, minus the highest before. */
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

/** Returns the highest resident memory that a process ever had, in bytes; the kernel records it. */
export function peakBytes(pid: number | undefined): number {
  return memoryField(pid, 'VmHWM');
}

function memoryField(pid: number | undefined, name: string): number {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
}
