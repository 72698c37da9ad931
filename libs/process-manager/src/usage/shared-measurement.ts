import type { ManagedProcess, RunFigures } from '../supervision/managed-process.js';

const GOOD_FOR_MS = 1000;
/** Limits measuring to a tenth of the time, because its cost grows with the processes that clients start. */
const SHARE_OF_TIME = 10;

/** Shares each measurement among callers, so that many callers cost no more than one. */
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

  /** Shares a measurement for a second, or for ten times its duration if that is longer. */
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

/** Resource use of all runs, measured together, so that callers can compute rates from two of them. */
export interface Measurement {
  /** In milliseconds of a monotonic clock. */
  readonly takenAtMs: number;
  readonly runs: readonly MeasuredRun[];
}

/** One run with the resource use at the time of the {@link Measurement}. */
export interface MeasuredRun {
  readonly run: ManagedProcess;
  readonly figures: RunFigures;
}
