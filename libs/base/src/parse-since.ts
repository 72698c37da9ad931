import { quoteText } from './text/escape-text.js';
import { parseDuration } from './parse-duration.js';
import { UsageError } from './usage-error.js';

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const LIMITS = { minMs: 0, maxMs: 36_500 * 24 * 3_600_000 };

/** Parses a time such as `2026-03-01T12:00Z`, or a duration before now such as `90s`, `2h30m` or `7d` (at most `36500d`). */
export function parseSince(text: string, nowMs: number): Date | undefined {
  if (DATE.test(text)) return dateOf(Date.parse(text));
  // Refuses a number without a unit: `parseDuration` would read the year 2026 as seconds.
  if (!/[a-z]$/.test(text)) return undefined;
  try {
    return dateOf(nowMs - parseDuration(text, LIMITS));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Reads the value of an option with a time, such as `since`. @throws UsageError */
export function timeOption(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseSince(text, Date.now());
  if (time !== undefined) return time;
  throw new UsageError(
    `--${name}: ${quoteText(text)} is not a time; wanted 90s, 2h30m or 7d before now, at most 36500d, or 2026-03-01T12:00Z`,
  );
}

function dateOf(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
