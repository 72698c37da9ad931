import type { TreeUsage } from '@wins/wins-program';

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
