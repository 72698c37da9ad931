import type { ManagedProcess } from '../supervision/managed-process.js';
import type { RunFigures } from './run-figures.js';

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
