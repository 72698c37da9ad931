const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const LONGEST_MS = 3_600_000;

/**
 * Reads a duration: `500ms`, `30s`, `5m`, `1m30s`; a bare number counts seconds.
 *
 * @returns Milliseconds, above 0 and at most one hour; undefined when the text is not such a duration.
 */
export function parseDurationMs(text: string): number | undefined {
  let totalMs = 0;
  if (/^\d{1,9}$/.test(text)) totalMs = Number(text) * 1000;
  else if (/^(?:\d{1,9}(?:ms|s|m))+$/.test(text)) {
    for (const [, amount = '', unit = ''] of text.matchAll(/(\d+)(ms|s|m)/g)) {
      totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
    }
  }
  return totalMs > 0 && totalMs <= LONGEST_MS ? totalMs : undefined;
}
