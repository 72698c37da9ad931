import { backoffMs } from '@wins/time';

/** `tries`: at least 1. `maxTries`: unlimited by default. `random`: from 0 to 1. */
export type RetryFacts = Readonly<
  Record<'tries' | 'elapsedMs' | 'timeoutMs' | 'random', number>
> & {
  readonly isTransient: boolean;
  readonly retryAfterMs: number | undefined;
  readonly maxTries?: number;
};

/**
 * Returns the wait before the next attempt: 1 s, doubled each time up to 30 s, then shortened at random by up to half.
 * The wait is never shorter than the server's `retryAfterMs`. Undefined: no further attempt.
 */
export function judgeRetry(facts: RetryFacts): number | undefined {
  const { isTransient, retryAfterMs = 0, tries, maxTries = Infinity } = facts;
  const { elapsedMs, timeoutMs, random } = facts;
  if (!isTransient || tries >= maxTries) return undefined;
  const backoff = { initialMs: 1_000, maxMs: 30_000, random: () => random };
  const waitMs = Math.max(backoffMs(backoff, tries), retryAfterMs);
  return elapsedMs + waitMs < timeoutMs ? waitMs : undefined;
}

/** 499, and 520 and above, come from proxies in front of the server. */
const TRANSIENT = new Set([408, 429, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

export const isTransientStatus = (status: number): boolean => TRANSIENT.has(status);

const MAX_MS = 300_000;

/** Parses `Retry-After`, in seconds or as a date (RFC 9110 10.2.3). Returns at most 5 min, or undefined for any other text. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_MS);
}
