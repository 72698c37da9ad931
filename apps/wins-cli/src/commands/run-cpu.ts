import type { RunFigures } from '@wins/wins-api';

/** Returns a key that distinguishes a run from a later run of the same name. */
export function runKey({ name, startedAtMs }: Pick<RunFigures, 'name' | 'startedAtMs'>): string {
  return `${name} ${startedAtMs}`;
}

/** Percent of one processor between two measurements, with one decimal; above 100 on several. Null when it cannot be measured. */
export function cpuPercentOf(
  earlier: Pick<RunFigures, 'usage'> | undefined,
  latest: Pick<RunFigures, 'usage'>,
  tookMs: number,
): number | null {
  if (earlier?.usage === undefined || latest.usage === undefined || tookMs <= 0) return null;
  const usedMs = latest.usage.cpuMs - earlier.usage.cpuMs;
  return Math.round((1000 * usedMs) / tookMs) / 10;
}
