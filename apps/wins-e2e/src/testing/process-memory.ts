import { readFileSync } from 'node:fs';

const LOOKS = 6;

/** In bytes. */
interface MemoryRange {
  readonly least: number;
  readonly most: number;
}

/** Samples memory after each round of work. One sample is not enough, because uncollected garbage makes memory vary. */
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

/** Returns the minimum growth in bytes: the lowest value after, minus the highest before. */
export function memoryGrowth(
  before: readonly MemoryRange[],
  after: readonly MemoryRange[],
): number[] {
  return after.map(({ least }, index) => least - (before[index]?.most ?? NaN));
}

export function residentBytes(pid: number | undefined): number {
  return memoryField(pid, 'VmRSS');
}

export function peakBytes(pid: number | undefined): number {
  return memoryField(pid, 'VmHWM');
}

function memoryField(pid: number | undefined, name: string): number {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
}
