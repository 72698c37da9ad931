const MAX_MS = 300_000;

/** Milliseconds of `Retry-After`: seconds or a date (RFC 9110 10.2.3), at most 5 min; undefined for anything else. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_MS);
}
