import type { RunFigures } from '@wins/wins-api';

/** Tells one run from the next of its name. */
export function runKey({ name, startedAtMs }: Pick<RunFigures, 'name' | 'startedAtMs'>): string {
  return `${name} ${startedAtMs}`;
}

/**
 * How much of one processor a run used between two measurements, in percent, with one decimal: more than 100 on several. Null for a run
 * that was not in both, or that the system does not measure.
 */
export function cpuPercentOf(
  earlier: Pick<RunFigures, 'usage'> | undefined,
  latest: Pick<RunFigures, 'usage'>,
  tookMs: number,
): number | null {
  if (earlier?.usage === undefined || latest.usage === undefined || tookMs <= 0) return null;
  const usedMs = latest.usage.cpuMs - earlier.usage.cpuMs;
  return Math.round((1000 * usedMs) / tookMs) / 10;
}
