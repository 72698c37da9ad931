import { quoteText } from './text/escape-text.js';

/** Limits of a duration, inclusive. */
export interface DurationLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS);
const MAX_TEXT_LENGTH = 32;

/**
 * Parses a duration in Go's notation (`500ms`, `1m30s`, `1.5h`), days (`7d`), or seconds without a unit (`30`). Returns milliseconds.
 *
 * @throws RangeError for other text or a duration beyond a limit. The message leaves the option's name to the caller.
 */
export function parseDuration(text: string, { minMs, maxMs }: DurationLimits): number {
  const durationMs = text.length > MAX_TEXT_LENGTH ? undefined : millisecondsOf(text);
  if (durationMs !== undefined && durationMs >= minMs && durationMs <= maxMs) return durationMs;
  throw new RangeError(
    `found ${quoteText(text, { maxLength: MAX_TEXT_LENGTH })}; wanted a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}, such as 500ms, 90s or 1m30s`,
  );
}

function millisecondsOf(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * (UNIT_MS.get(unit) ?? NaN);
  }
  return Math.round(totalMs);
}

/** Formats whole milliseconds for {@link parseDuration}, in the largest units: `1m30s`; `0s` for zero. */
export function formatDuration(durationMs: number): string {
  let restMs = durationMs;
  let text = '';
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}
