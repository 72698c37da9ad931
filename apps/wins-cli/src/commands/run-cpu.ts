import type { RunFigures } from '@wins/wins-api';

/** Tells one run from the next of its name. */
export function runKey({ Name, StartedAtMs }: Pick<RunFigures, 'Name' | 'StartedAtMs'>): string {
  return `${Name} ${StartedAtMs}`;
}

/**
 * How much of one processor a run used between two measurements, in percent, with one decimal: more than 100 on several. Null for a run
 * that was not in both, or that the system does not measure.
 */
export function cpuPercentOf(
  earlier: Pick<RunFigures, 'Usage'> | undefined,
  latest: Pick<RunFigures, 'Usage'>,
  tookMs: number,
): number | null {
  if (earlier?.Usage === undefined || latest.Usage === undefined || tookMs <= 0) return null;
  const usedMs = Number(latest.Usage.CpuMs - earlier.Usage.CpuMs);
  return Math.round((1000 * usedMs) / tookMs) / 10;
}
