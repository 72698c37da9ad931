import { parseDuration } from '@wins/base';

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const LIMITS = { minMs: 0, maxMs: 36_500 * 24 * 3_600_000 };

/** Parses a time such as `2026-03-01T12:00Z`, or a duration before now such as `90s`, `2h30m` or `7d` (at most `36500d`). */
export function parseSince(text: string, nowMs: number): Date | undefined {
  const day = text.slice(0, 10);
  if (DATE.test(text)) {
    // Without the check, `Date` reads the 31st of a shorter month as a day of the next month.
    if (dateOf(day)?.toJSON().startsWith(day) !== true) return undefined;
    // `Date` reads a day as UTC, but a time without a zone as local.
    return dateOf(/[T ][\d:.]+$/.test(text) ? `${text}Z` : text);
  }
  // Refuses a number without a unit: `parseDuration` would read the year 2026 as seconds.
  if (!/[a-z]$/.test(text)) return undefined;
  try {
    return dateOf(nowMs - parseDuration(text, LIMITS));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function dateOf(time: number | string): Date | undefined {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
