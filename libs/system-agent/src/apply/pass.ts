/** A source decides which work is due, and stores the result; the applier does the work. */
import type { Plan } from '../plan/plan.js';

/** Outputs by instruction name; null for no output. */
export type Outputs = Readonly<Record<string, Buffer | null>>;

/** Stored in the Secret and `.pos` files. A time is empty or in Go's UnixDate format. */
export interface PeriodicStatus {
  readonly name: string;
  readonly stdout: Buffer | null;
  readonly stderr: Buffer | null | undefined;
  /** -1: not started, or ended by a signal. */
  readonly exitCode: number;
  readonly lastSuccessfulRunTime: string;
  readonly failures: number;
  readonly lastFailedRunTime: string;
}

/** Counters stop at their thresholds. */
export interface ProbeStatus {
  readonly healthy: boolean;
  readonly successCount: number;
  readonly failureCount: number;
}

/** A failed one-time instruction, which ended its pass. */
export interface FailedInstruction {
  /** Name, or index if there is no name. */
  readonly instruction: string;
  /** -1: not started, or ended by a signal. */
  readonly exitCode: number;
  /** The end of stderr, or the reason why the instruction could not start. At most 4 KiB. */
  readonly stderrEnd: string;
}

/** Outputs and states by name, after some passes of a plan. Keeps entries whose names are no longer in the plan. */
export interface PassState {
  readonly outputs: Outputs;
  readonly periodic: Readonly<Record<string, PeriodicStatus>>;
  readonly probes: Readonly<Record<string, ProbeStatus>>;
}

/** One application of a plan: the work that is due, and the state of earlier passes. */
export interface Pass extends PassState {
  readonly source: string;
  readonly plan: Plan;
  /** Lower-case SHA-256 of the plan's bytes. */
  readonly checksum: string;
  /** Present when files and one-time instructions are due. All periodic instructions are then due too, and probes wait for their initial delay. */
  readonly oneTime?:
    | {
        readonly attempt: number;
        /** True if the previous attempt had the same plan. The plan is then added to the history only if it is missing there. */
        readonly isRepeated?: boolean | undefined;
      }
    | undefined;
  readonly startedAt: Date;
}

/** Outcome of a pass. Its state includes that of earlier passes. */
export interface PassResult extends PassState {
  readonly succeeded: boolean;
  readonly failure?: FailedInstruction | undefined;
}

/** Carries out plans, one pass at a time. */
export interface Applier {
  /** @throws AgentError `closed`, or `fileFailed`, which does not count as a failure of the plan. */
  apply(pass: Pass, options: { readonly signal: AbortSignal }): Promise<PassResult>;
}
