const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 24 * 3_600_000;

/**
 * Reads a duration: `500ms`, `30s`, `5m`, `1h`, `1m30s`; a bare number counts seconds.
 *
 * @returns Milliseconds, at most one day; undefined when the text is not a duration.
 */
export function parseDurationMs(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_MS);
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  return Math.min(totalMs, LONGEST_MS);
}
