import type { ManagedProcess, RunFigures } from '../supervision/managed-process.js';

/** How long a measurement is good for all who ask. */
const GOOD_FOR_MS = 1000;
/** Nor is more than one part in so many of the time spent on measuring: others choose how many processes there are to look at. */
const SHARE_OF_TIME = 10;

/** Measures when asked, once for all who ask within a second, so that who asks often costs no more than who asks once. */
export class SharedMeasurement {
  readonly #measure: () => Promise<Measurement['runs']>;
  readonly #now: () => number;
  #takenAtMs = -Infinity;
  #latest: Promise<Measurement> | undefined;
  #isTaking = false;
  #tookMs = 0;

  /** @param now - A clock that only goes forward, in milliseconds. */
  constructor(
    measure: () => Promise<Measurement['runs']>,
    now: () => number = () => performance.now(),
  ) {
    this.#measure = measure;
    this.#now = now;
  }

  /** A measurement that is under way, or a second old at most; older if it took more than 100 ms. */
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

/** The figures of every run that lives, of one moment. */
export interface Measurement {
  /** When it was taken, in milliseconds of a clock that only goes forward: for the time between two of them. */
  readonly takenAtMs: number;
  readonly runs: readonly MeasuredRun[];
}

/** A run and its figures. */
export interface MeasuredRun {
  readonly run: ManagedProcess;
  readonly figures: RunFigures;
}
