import type { Measurement } from './run-figures.js';

/** How long a measurement is good for all who ask. */
const GOOD_FOR_MS = 1000;

/** Measures when asked, once for all who ask within a second: who asks often costs no more than who asks once a second. */
export class SharedMeasurement {
  readonly #measure: () => Promise<Measurement['runs']>;
  readonly #now: () => number;
  #takenAtMs = -Infinity;
  #latest: Promise<Measurement> | undefined;
  #isTaking = false;

  /** @param now - A clock that only goes forward, in milliseconds. */
  constructor(
    measure: () => Promise<Measurement['runs']>,
    now: () => number = () => performance.now(),
  ) {
    this.#measure = measure;
    this.#now = now;
  }

  /** A measurement that is under way, or a second old at most. */
  take(): Promise<Measurement> {
    const takenAtMs = this.#now();
    const isGood = this.#isTaking || takenAtMs - this.#takenAtMs < GOOD_FOR_MS;
    if (this.#latest !== undefined && isGood) return this.#latest;
    this.#takenAtMs = takenAtMs;
    this.#isTaking = true;
    this.#latest = this.#measure()
      .then((runs) => ({ takenAtMs, runs }))
      .finally(() => (this.#isTaking = false));
    return this.#latest;
  }
}
