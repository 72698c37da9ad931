import { systemClock, type Clock } from './clock.js';

export interface BackoffOptions {
  /** Maximum delay after the first failure, in milliseconds. */
  readonly initialMs: number;
  /** Maximum delay after any failure, in milliseconds. */
  readonly maxMs: number;
  /** Growth of the delay after each failure. Default 2. */
  readonly factor?: number;
  /** Share, 0 to 1, by which a delay may be shortened at random, so that clients of one server do not all retry together. Default 0.5. */
  readonly jitter?: number;
  /** Returns a random number from 0 to less than 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Returns the delay in milliseconds after consecutive failures, at least one: `initialMs`, multiplied by `factor` for each
 * further failure, at most `maxMs`, shortened at random by up to `jitter`. Pure except for `random`.
 */
export function backoffMs(
  { initialMs, maxMs, factor = 2, jitter = 0.5, random = Math.random }: BackoffOptions,
  failures: number,
): number {
  const longestMs = Math.min(maxMs, initialMs * factor ** (failures - 1));
  return Math.round(longestMs * (1 - jitter + jitter * random()));
}

/** {@link backoffMs} with a counter of failures. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts a failure and returns the delay after it, in milliseconds. */
  nextMs(): number {
    this.#failures += 1;
    return backoffMs(this.#options, this.#failures);
  }

  /** Counts a failure and waits after it. @throws The reason of the signal when it aborts first. */
  async wait(signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
    await clock.wait(this.nextMs(), signal);
  }

  /** Resets the failure count, after a success or before a different attempt. */
  reset(): void {
    this.#failures = 0;
  }
}
