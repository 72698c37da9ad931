import type { CommandRunner } from '@wins/process-manager';
import type { AgentAct, AgentEvent, PlanFiles } from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import type {
  PlanApplied,
  PlanApplyResponse,
  PlanContent,
  PlanSource,
} from '@wins/wins-api/contract';
import type { AgentSettings } from './agent-settings.js';

/** Makes the error that the agent knows for a file that cannot be made. */
export type FileFailure = (message: string, options: ErrorOptions) => Error;

/** What the daemon gives to its agent. */
export interface AgentParts {
  readonly settings: AgentSettings;
  readonly commands: CommandRunner;
  /** Files with permissions as this system has them. Absent: as POSIX has them. */
  readonly planFiles?: ((failure: FileFailure) => PlanFiles) | undefined;
  readonly trust: FileTrust;
  /** Resolves once the act is recorded; when it rejects, the act does not happen. */
  readonly onAct: (act: AgentAct) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
}

/** An agent that follows its plans until it is closed. What it tells holds no secret. */
export interface RunningAgent {
  /** When the API server last answered; absent without a remote plan, or when it never did. */
  readonly lastContactAt: Date | undefined;
  /** The same, or when the agent began if it never did; absent without a remote plan. */
  readonly silentSince: Date | undefined;
  sources(): PlanSource[];
  plans(): PlanContent[];
  history(): Promise<PlanApplied[]>;
  /** Applies a plan once, or says what it would do. @throws AgentError `invalidPlan`, `fileFailed`, `closed`. */
  apply(text: Buffer, isDryRun: boolean, signal: AbortSignal): Promise<PlanApplyResponse>;
  /** Ends what it runs. Idempotent. */
  close(): Promise<void>;
}
