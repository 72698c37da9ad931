import type { CommandRunner } from '@wins/process-manager';
import type {
  AgentAct,
  AgentEvent,
  PassResult,
  Plan,
  PlanFiles,
  ProviderRun,
  SystemAgent,
} from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import type { AgentSettings } from './agent-settings.js';
import type { FileEffect } from './dry-run.js';

export type FileFailure = (message: string, options: ErrorOptions) => Error;

/** Files with permissions as a system has them; it gets told of files that could not be written as they should. */
export type PlanFilesOf = (failure: FileFailure, onWarning: (message: string) => void) => PlanFiles;

export interface AgentParts {
  readonly settings: AgentSettings;
  readonly commands: CommandRunner;
  /** Files with permissions as this system has them. Absent: as POSIX has them. */
  readonly planFiles?: PlanFilesOf | undefined;
  readonly trust: FileTrust;
  /** Resolves once the act is recorded; when it rejects, the act does not happen. */
  readonly onAct: (act: AgentAct) => Promise<void>;
  /** The same for a credential provider. */
  readonly onProvider: (run: ProviderRun) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
}

export interface PlanOutcome {
  readonly plan: Plan;
  readonly checksum: string;
  /** What each of its files would become, in their order; absent when it was applied. */
  readonly effects?: readonly FileEffect[];
  readonly result?: PassResult;
}

export interface RunningAgent extends Pick<SystemAgent, 'status' | 'history' | 'close'> {
  /** Applies a plan once, or looks at what that would do. @throws AgentError. */
  apply(text: Buffer, isDryRun: boolean, signal: AbortSignal): Promise<PlanOutcome>;
}
