/**
 * The agent of the daemon: where the parts of its library meet. Its code is loaded when the config turns the agent on.
 */
import type { CommandRunner } from '@wins/process-manager';
import {
  AgentError,
  connectingStore,
  createSystemAgent,
  imageStore,
  parsePlan,
  posixPlanFiles,
  programRunner,
  readConnectionInfo,
  secretStore,
  type AgentAct,
  type AgentEvent,
  type PassResult,
  type Plan,
  type PlanFiles,
  type ProviderRun,
  type SystemAgent,
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import type { AgentSettings } from './agent-settings.js';
import { fileEffects, type FileEffect } from './dry-run.js';
import { registryOptions } from './registry-options.js';

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
  /** Effect on each of its files, in their order; absent when it was applied. */
  readonly effects?: readonly FileEffect[];
  readonly result?: PassResult;
}

export interface RunningAgent extends Pick<SystemAgent, 'status' | 'history' | 'close'> {
  /** Applies a plan once, or looks at what that would do. @throws AgentError. */
  apply(text: Buffer, isDryRun: boolean, signal: AbortSignal): Promise<PlanOutcome>;
}

export function startAgent(parts: AgentParts): RunningAgent {
  const { settings, commands, trust, onAct, onProvider, onEvent } = parts;
  const { connectionInfoFile, isStrict } = settings;
  const clock = systemClock;
  const fileFailed = (message: string, options: ErrorOptions) =>
    new AgentError('fileFailed', message, options);
  const onFileWarning = (message: string): void =>
    onEvent({ kind: 'warning', source: 'files', message });
  const files = parts.planFiles?.(fileFailed, onFileWarning) ?? posixPlanFiles();
  const onWarning = (message: string, error?: Error): void =>
    onEvent({ kind: 'warning', source: 'remote', message, ...(error && { error }) });
  const agent = createSystemAgent({
    ...settings,
    stateDirectory: path.join(settings.appliedPlanDirectory, 'state'),
    ...(connectionInfoFile !== undefined && {
      secrets: connectingStore({
        clock,
        readInfo: () => readConnectionInfo(connectionInfoFile, trust),
        storeOf: (info) => secretStore(info, { clock, strictTls: isStrict, onWarning }),
      }),
    }),
    ...{ clock, files, trust, onAct, onEvent },
    programs: programRunner(commands),
    images: imageStore({
      ...registryOptions(settings, trust),
      onProvider,
      onWarning: (message) => onEvent({ kind: 'warning', source: 'images', message }),
    }),
  });
  return {
    ...agent,
    apply: async (text, isDryRun, signal) => {
      const parsed = parsePlan(text);
      const { plan, checksum } = parsed;
      if (isDryRun) return { plan, checksum, effects: await fileEffects(plan) };
      return { plan, checksum, result: await agent.applyOnce(parsed, signal) };
    },
  };
}

/** Reads the Secret of the node once, and asks whether it may be written. @throws AgentError */
export async function reachSecret(
  { connectionInfoFile = '', isStrict }: AgentSettings,
  trust: FileTrust,
  signal: AbortSignal,
): Promise<'found' | 'missing'> {
  const info = await readConnectionInfo(connectionInfoFile, trust);
  const secrets = secretStore(info, { clock: systemClock, strictTls: isStrict });
  const secret = await secrets.read(signal);
  if (secret === undefined) return 'missing';
  await secrets.tryWriting(secret, signal);
  return 'found';
}
