import type { FileTrust } from '@wins/trusted-files';
import type { AgentAction, AgentEvent, SourceState } from './agent-event.js';
import type { PassResult, PassState } from './apply/pass.js';
import type { ParsedPlan } from './plan/parse-plan.js';
import type { Plan } from './plan/plan.js';
import type { Clock, ImageStore, PlanFiles, ProgramRunner, SecretStore } from './ports.js';

/** Paths are absolute. */
export interface AgentOptions {
  /** Has one folder per execution. Private; emptied after each pass unless `preserveWorkDirectory`. */
  readonly workDirectory: string;
  readonly preserveWorkDirectory: boolean;
  /** The history of plans. Private. */
  readonly appliedPlanDirectory: string;
  /** State of the agent: results not yet written to the server, and complete outputs. Private. */
  readonly stateDirectory: string;
  /** Default: no local plans. */
  readonly localPlanDirectory?: string | undefined;
  /** Default: no remote plan. */
  readonly secrets?: SecretStore | undefined;
  readonly clock: Clock;
  readonly files: PlanFiles;
  /** Refuses local plans that others may have written. Default: judges by POSIX owners and modes, and so trusts no file on Windows. */
  readonly trust?: Pick<FileTrust, 'distrustOfFile'> | undefined;
  readonly programs: ProgramRunner;
  readonly images: ImageStore;
  /**
   * Resolves once the action is recorded; a rejection prevents the action. Called for up to 100 files before the first of them
   * changes, so that one flush can record them together.
   */
  readonly onAction: (action: AgentAction) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => unknown;
}

/** State of one plan, remote or local. */
export interface PlanStatus extends Pick<PassState, 'periodic' | 'probes'> {
  /** `remote`, or the path of a local plan. */
  readonly source: string;
  readonly state: SourceState;
  /** Absent when there is no readable plan. */
  readonly plan?: Plan | undefined;
  readonly checksum?: string | undefined;
  readonly appliedChecksum?: string | undefined;
  /** Digest of the plan whose last attempt failed. */
  readonly failedChecksum?: string | undefined;
  /** Number of failed attempts of the present plan. */
  readonly failures: number;
  /** In Go's UnixDate format. */
  readonly lastApplyTime?: string | undefined;
}

/** State of all plans, and of the connection to the API server. */
export interface AgentStatus {
  readonly plans: readonly PlanStatus[];
  /** Time of the last data from the API server; absent when there was none. */
  readonly lastContactAt?: Date | undefined;
  /** Milliseconds since then, or, before the first contact, since the agent's start; absent without a remote plan. Does not depend on a set clock. */
  readonly silentMs?: number | undefined;
}

/** A plan in the history, with the file that holds it. */
export interface AppliedPlan {
  readonly file: string;
  readonly checksum: string;
  readonly plan: Plan;
}

/** Runs until it is closed. Its failures never end the process. */
export interface SystemAgent extends AsyncDisposable {
  status(): AgentStatus;
  /** Newest first. */
  history(): Promise<readonly AppliedPlan[]>;
  /** Applies a plan once, like a local plan without a state file. @throws AgentError `fileFailed`, `closed`. */
  applyOnce(plan: ParsedPlan, options: { readonly signal: AbortSignal }): Promise<PassResult>;
  /** Ends running instructions with their child processes. Idempotent; resolves when everything has ended. */
  close(): Promise<void>;
}
