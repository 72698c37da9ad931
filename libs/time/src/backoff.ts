import { systemClock, type Clock } from './clock.js';

/** Waits between attempts. */
export interface BackoffOptions {
  /** The longest wait after the first failure, in milliseconds. */
  readonly initialMs: number;
  /** The longest wait of all, in milliseconds. */
  readonly maxMs: number;
  /** How much longer each wait is than the one before. Default 2. */
  readonly factor?: number;
  /**
   * The share of a wait, from 0 to 1, by which it is shortened at random, so that many clients of one server do not come back at once. 1 is
   * "full jitter": any wait down to 0. Default 0.5.
   */
  readonly jitter?: number;
  /** A number from 0 to less than 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Returns how long to wait after `failures` failures in succession, in milliseconds: `initialMs` after the first one, then `factor` times as
 * long each time, `maxMs` at most, shortened at random by up to `jitter`. Pure but for `random`.
 *
 * @param failures - From 1, without an upper bound.
 */
export function backoffMs(
  { initialMs, maxMs, factor = 2, jitter = 0.5, random = Math.random }: BackoffOptions,
  failures: number,
): number {
  const longestMs = Math.min(maxMs, initialMs * factor ** (failures - 1));
  return Math.round(longestMs * (1 - jitter + jitter * random()));
}

/** {@link backoffMs} of a caller that counts its failures here. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts a failure and returns how long to wait after it, in milliseconds. */
  nextMs(): number {
    this.#failures += 1;
    return backoffMs(this.#options, this.#failures);
  }

  /**
   * Counts a failure and waits after it.
   *
   * @throws The reason of the signal when it aborts first.
   */
  async wait(signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
    await clock.wait(this.nextMs(), signal);
  }

  /** Forgets all failures: something succeeded, or something else is tried. */
  reset(): void {
    this.#failures = 0;
  }
}
