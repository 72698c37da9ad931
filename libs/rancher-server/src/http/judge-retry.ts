import { backoffMs } from '@wins/time';

export interface RetryFacts {
  readonly isTransient: boolean;
  readonly retryAfterMs: number | undefined;
  /** How many attempts there were, at least 1. */
  readonly attempts: number;
  readonly elapsedMs: number;
  readonly timeoutMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long to wait before the next attempt: from 1 s, doubled each time, to 30 s, shortened at random by up to a half so that nodes do not
 * come back all at once, and never less than the server wants. Undefined when there is to be none.
 */
export function judgeRetry(facts: RetryFacts): number | undefined {
  const { isTransient, retryAfterMs = 0, attempts, elapsedMs, timeoutMs, random } = facts;
  if (!isTransient) return undefined;
  const backoff = { initialMs: 1_000, maxMs: 30_000, random: () => random };
  const waitMs = Math.max(backoffMs(backoff, attempts), retryAfterMs);
  return elapsedMs + waitMs < timeoutMs ? waitMs : undefined;
}
