import { DurationError, parseDuration } from '@wins/wins-program';

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Reads `90s`, `2h30m` or `7d` before now, or a time as in `2026-03-01` or `2026-03-01T12:00Z`; undefined for other text. */
export function parseSince(text: string, nowMs: number): Date | undefined {
  if (DATE.test(text)) {
    const date = new Date(text);
    return Number.isNaN(date.getTime()) ? undefined : date;
  }
  // A number without a unit could be a year.
  if (!/[a-z]$/.test(text)) return undefined;
  try {
    const agoMs = parseDuration(text, { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER });
    return new Date(Math.max(0, nowMs - agoMs));
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}
