import type { Abortable } from 'node:events';
import { systemClock, type Clock } from './clock.js';

/** Delays of repeated attempts: each is twice the one before, up to `maxMs`, less a random part. */
export interface BackoffOptions {
  /** First delay, before jitter, in milliseconds. */
  readonly initialMs: number;
  /** Longest delay, in milliseconds. */
  readonly maxMs: number;
  /** Largest share of a delay, 0 to 1, that is cut off at random, so that clients of one server do not all retry together. Default 0.5. */
  readonly jitter?: number | undefined;
  /** From 0 to less than 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Returns the delay in milliseconds after a number of consecutive failures (at least 1): `initialMs` times a power of 2,
 * at most `maxMs`, randomly shortened by up to `jitter`.
 */
export function backoffMs(
  { initialMs, maxMs, jitter = 0.5, random = Math.random }: BackoffOptions,
  failures: number,
): number {
  const longestMs = Math.min(maxMs, initialMs * 2 ** (failures - 1));
  return Math.round(longestMs * (1 - jitter + jitter * random()));
}

/** Options of {@link Backoff.wait}. */
export interface BackoffWaitOptions extends Abortable {
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

/** {@link backoffMs} with a counter of failures. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts a failure and returns the delay in milliseconds. */
  nextMs(): number {
    this.#failures += 1;
    return backoffMs(this.#options, this.#failures);
  }

  /** Counts a failure and waits. @throws The signal's reason if it aborts during the wait or before it. */
  async wait({ signal, clock = systemClock }: BackoffWaitOptions = {}): Promise<void> {
    await clock.wait(this.nextMs(), { signal });
  }

  /** Restarts with the first delay. Call after a success, or before trying something else. */
  reset(): void {
    this.#failures = 0;
  }
}
