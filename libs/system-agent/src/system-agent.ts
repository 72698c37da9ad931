import type { FileTrust } from '@wins/trusted-files';
import type { AgentAct, AgentEvent, SourceState } from './agent-event.js';
import type { PassResult, PeriodicStatus, ProbeStatus } from './apply/pass.js';
import type { ParsedPlan } from './plan/parse-plan.js';
import type { Plan } from './plan/plan.js';
import type { Clock, ImageStore, PlanFiles, ProgramRunner, SecretStore } from './ports.js';

/** Where the agent works, and what it is made of. Paths are absolute. */
export interface AgentOptions {
  /** Executions have folders in it. Private; removed after each pass unless `preserveWorkDirectory`. */
  readonly workDirectory: string;
  readonly preserveWorkDirectory: boolean;
  /** The history of plans. Private. */
  readonly appliedPlanDirectory: string;
  /** Ours alone: results that wait to be written, and whole outputs. Private. */
  readonly stateDirectory: string;
  /** Absent: no local plans. */
  readonly localPlanDirectory?: string;
  /** Absent: no remote plan. */
  readonly secrets?: SecretStore;
  readonly clock: Clock;
  readonly files: PlanFiles;
  /** Rule for who may have written a local plan. By default, owners and modes of POSIX decide, by which no file on Windows is trusted. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'>;
  readonly programs: ProgramRunner;
  readonly images: ImageStore;
  /**
   * Resolves once the act is recorded; when it rejects, the act does not happen. It is called for up to 100 files in one turn, before
   * the first of them is touched: records of one turn can be flushed together.
   */
  readonly onAct: (act: AgentAct) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
}

/** Status of one plan. */
export interface PlanStatus {
  /** `remote`, or the path of a local plan. */
  readonly source: string;
  readonly state: SourceState;
  /** The plan as it was last read; absent when there is none, or it cannot be read. */
  readonly plan?: Plan;
  readonly checksum?: string;
  readonly appliedChecksum?: string;
  readonly failedChecksum?: string;
  readonly failures: number;
  readonly lastApplyTime?: string;
  readonly periodic: Readonly<Record<string, PeriodicStatus>>;
  readonly probes: Readonly<Record<string, ProbeStatus>>;
}

export interface AgentStatus {
  readonly plans: readonly PlanStatus[];
  /** When the API server last answered or sent something; absent without a remote plan, or when it never did. */
  readonly lastContactAt?: Date;
  /** The same, or when the agent began if the API server never did; absent without a remote plan. */
  readonly silentSince?: Date;
}

/** A plan that was applied, from the history. */
export interface AppliedPlan {
  readonly file: string;
  readonly checksum: string;
  readonly plan: Plan;
}

/** An agent that runs until it is closed. Nothing that happens to it ends the process. */
export interface SystemAgent {
  status(): AgentStatus;
  /** Newest first. */
  history(): Promise<readonly AppliedPlan[]>;
  /**
   * Applies a plan once, as a local plan without a state file.
   *
   * @throws AgentError `fileFailed`, `closed`.
   */
  applyOnce(plan: ParsedPlan, signal: AbortSignal): Promise<PassResult>;
  /** Ends running instructions with their trees and stops. Idempotent; resolves when nothing of it runs. */
  close(): Promise<void>;
}
