/** Interface between sources and the applier. A source decides which work is due and stores the result; the applier does the work. */
import type { Plan } from '../plan/plan.js';

/** Saved outputs by the name of the instruction; null where there was no output. */
export type Outputs = Readonly<Record<string, Buffer | null>>;

/** Status of a periodic instruction in the Secret and `.pos` files. Times are Go's UnixDate, or empty. */
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

/** Status of a probe. Counters stop at their thresholds. */
export interface ProbeStatus {
  readonly healthy: boolean;
  readonly successCount: number;
  readonly failureCount: number;
}

/** The one-time instruction that failed, so that its plan is not applied. */
export interface FailedInstruction {
  readonly instruction: string;
  /** -1: not started, or ended by a signal. */
  readonly exitCode: number;
  /** The end of its stderr, at most 4 KiB, or the reason why the instruction could not be started. */
  readonly stderrEnd: string;
}

export interface Pass {
  readonly source: string;
  readonly plan: Plan;
  /** Lower-case SHA-256 of the plan's bytes. */
  readonly checksum: string;
  /** Present when files and one-time instructions are due: all periodic instructions are then due too, and probes are delayed. */
  readonly oneTime?: {
    readonly attempt: number;
    /** True when the source's previous attempt was for the same plan, so that the history should already contain it. */
    readonly isRepeated?: boolean;
  };
  /** Outputs saved earlier; those of this pass are merged into them. */
  readonly outputs: Outputs;
  readonly periodic: Readonly<Record<string, PeriodicStatus>>;
  readonly probes: Readonly<Record<string, ProbeStatus>>;
  readonly startedAt: Date;
}

/** Result of a pass. Keeps entries whose names are no longer in the plan. */
export interface PassResult {
  readonly succeeded: boolean;
  readonly failure?: FailedInstruction;
  readonly outputs: Outputs;
  readonly periodic: Readonly<Record<string, PeriodicStatus>>;
  readonly probes: Readonly<Record<string, ProbeStatus>>;
}

export interface Applier {
  /** @throws AgentError `fileFailed` when a file cannot be written, which does not count as a failure of the plan; `closed`. */
  apply(pass: Pass, signal: AbortSignal): Promise<PassResult>;
}
