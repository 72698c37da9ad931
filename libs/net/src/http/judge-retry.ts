import { backoffMs } from '@wins/time';

export interface RetryFacts {
  readonly isTransient: boolean;
  readonly retryAfterMs: number | undefined;
  /** How many tries there were, at least 1. */
  readonly tries: number;
  /** Default: any number. */
  readonly maxTries?: number;
  readonly elapsedMs: number;
  readonly timeoutMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long to wait before the next try: from 1 s, doubled each time, to 30 s, shortened at random by up to a half so that nodes do not
 * come back all at once, and never less than the server wants. Undefined when there is to be none.
 */
export function judgeRetry(facts: RetryFacts): number | undefined {
  const { isTransient, retryAfterMs = 0, tries, maxTries = Infinity } = facts;
  const { elapsedMs, timeoutMs, random } = facts;
  if (!isTransient || tries >= maxTries) return undefined;
  const backoff = { initialMs: 1_000, maxMs: 30_000, random: () => random };
  const waitMs = Math.max(backoffMs(backoff, tries), retryAfterMs);
  return elapsedMs + waitMs < timeoutMs ? waitMs : undefined;
}

/** HTTP statuses after which a retry may succeed. 499 and those from 520 on come from proxies in front of the server. */
const TRANSIENT = new Set([408, 429, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

export function isTransientStatus(status: number): boolean {
  return TRANSIENT.has(status);
}
