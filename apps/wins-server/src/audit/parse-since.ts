const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DURATION = /^(?:\d{1,6}[smhd])+$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Reads `90s`, `2h30m` or `7d` before now, or a time as in `2026-03-01` or `2026-03-01T12:00Z`; undefined for other text. */
export function parseSince(text: string, nowMs: number): Date | undefined {
  if (DURATION.test(text)) {
    const parts = [...text.matchAll(/(\d+)([smhd])/g)];
    const agoMs = parts.reduce(
      (sum, [, n, unit = '']) => sum + Number(n) * (UNIT_MS[unit] ?? 0),
      0,
    );
    return dateOf(Math.max(0, nowMs - agoMs));
  }
  return DATE.test(text) ? dateOf(Date.parse(text)) : undefined;
}

function dateOf(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
