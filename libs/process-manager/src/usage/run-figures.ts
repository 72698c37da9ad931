import type { TreeUsage } from '../host/process-host.js';
import type { ManagedProcess } from '../supervision/managed-process.js';

/** What a run has written until now. */
export interface OutputFigures {
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** How often the run had to wait for a reader of its output. */
  readonly pauses: number;
}

/** What a run costs. */
export interface RunFigures {
  /** What its tree has used; undefined when the system does not tell. */
  readonly usage: TreeUsage | undefined;
  readonly output: OutputFigures;
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
