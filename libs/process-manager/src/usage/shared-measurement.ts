import type { ManagedProcess, RunFigures } from '../supervision/managed-process.js';

/** Time in milliseconds for which all callers share a measurement. */
const GOOD_FOR_MS = 1000;
/** Measuring takes at most a tenth of the time, because clients control the number of processes. */
const SHARE_OF_TIME = 10;

/** Measures on request and shares the result with all callers within a second, so that many callers cost no more than one. */
export class SharedMeasurement {
  readonly #measure: () => Promise<Measurement['runs']>;
  readonly #now: () => number;
  #takenAtMs = -Infinity;
  #latest: Promise<Measurement> | undefined;
  #isTaking = false;
  #tookMs = 0;

  /** @param now - A monotonic clock, in milliseconds. */
  constructor(
    measure: () => Promise<Measurement['runs']>,
    now: () => number = () => performance.now(),
  ) {
    this.#measure = measure;
    this.#now = now;
  }

  /** Returns the measurement in progress, or one at most a second old; it may be older if it took more than 100 ms. */
  take(): Promise<Measurement> {
    const takenAtMs = this.#now();
    const goodForMs = Math.max(GOOD_FOR_MS, SHARE_OF_TIME * this.#tookMs);
    const isGood = this.#isTaking || takenAtMs - this.#takenAtMs < goodForMs;
    if (this.#latest !== undefined && isGood) return this.#latest;
    this.#takenAtMs = takenAtMs;
    this.#isTaking = true;
    this.#latest = this.#measure()
      .then((runs) => ({ takenAtMs, runs }))
      .finally(() => {
        this.#tookMs = this.#now() - takenAtMs;
        this.#isTaking = false;
      });
    return this.#latest;
  }
}

/** Figures of all living runs at one moment. */
export interface Measurement {
  /** Time of the measurement in milliseconds of a monotonic clock, for the difference between two measurements. */
  readonly takenAtMs: number;
  readonly runs: readonly MeasuredRun[];
}

export interface MeasuredRun {
  readonly run: ManagedProcess;
  readonly figures: RunFigures;
}
