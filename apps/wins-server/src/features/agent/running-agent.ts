import { errnoOf, onSystemDrive } from '@wins/base';
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
  type AgentAction,
  type AgentEvent,
  type PassResult,
  type Plan,
  type PlanFile,
  type ProviderRun,
  type SystemAgent,
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PlanFilesOf } from '../../kernel/operating-system.js';
import type { AgentSettings } from './agent-settings.js';
import { registryOptions } from './registry-options.js';

export interface AgentParts {
  readonly settings: AgentSettings;
  readonly commands: CommandRunner;
  /** File permissions of this system. Default: those of POSIX. */
  readonly planFiles?: PlanFilesOf | undefined;
  readonly trust: FileTrust;
  /** Resolves once the action is recorded; a rejection cancels the action. */
  readonly onAction: (action: AgentAction) => Promise<void>;
  /** Resolves once the run of the credential provider is recorded; a rejection prevents the run. */
  readonly onProvider: (run: ProviderRun) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
}

export interface PlanOutcome {
  readonly plan: Plan;
  readonly checksum: string;
  /** Only for a dry run, in the order of the files. */
  readonly effects?: readonly FileEffect[];
  readonly result?: PassResult;
}

export interface RunningAgent extends Pick<SystemAgent, 'status' | 'history' | 'close'> {
  /** @throws AgentError. */
  apply(text: Buffer, isDryRun: boolean, signal: AbortSignal): Promise<PlanOutcome>;
}

export function startAgent(parts: AgentParts): RunningAgent {
  const { settings, commands, trust, onAction, onProvider, onEvent } = parts;
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
    clock,
    files,
    trust,
    onAction,
    onEvent,
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
      if (isDryRun) return { plan, checksum, effects: await fileEffects(plan, { signal }) };
      return { plan, checksum, result: await agent.applyOnce(parsed, { signal }) };
    },
  };
}

export async function reachSecret(
  { connectionInfoFile = '', isStrict }: AgentSettings,
  trust: FileTrust,
  signal: AbortSignal,
): Promise<'found' | 'missing'> {
  const info = await readConnectionInfo(connectionInfoFile, trust);
  const secrets = secretStore(info, { clock: systemClock, strictTls: isStrict });
  const secret = await secrets.read({ signal });
  if (secret === undefined) return 'missing';
  await secrets.tryWriting(secret, { signal });
  return 'found';
}

export type FileEffect = 'create' | 'replace' | 'keep' | 'delete' | 'none' | '';

/** Predicts the effects, and changes nothing. An empty text means an unknown effect. */
async function fileEffects(
  { files }: Plan,
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly FileEffect[]> {
  const effects: FileEffect[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    effects.push(await effectOf({ ...file, path: onSystemDrive(file.path) }));
  }
  return effects;
}

async function effectOf(file: PlanFile): Promise<FileEffect> {
  try {
    const isThere = (await lstat(file.path).catch(unlessAbsent)) !== undefined;
    if (file.action === 'delete') return isThere ? 'delete' : 'none';
    if (!isThere) return 'create';
    if (file.directory) return 'keep';
    const content = Buffer.from(file.content ?? '', 'base64');
    const found = await stat(file.path);
    if (!found.isFile() || found.size !== content.length) return 'replace';
    // After `stat`, a pipe may replace the file. `readBytes` does not wait for the writer of a pipe.
    const now = await readBytes(file.path, { followLinks: true, maxBytes: content.length });
    return content.equals(now) ? 'keep' : 'replace';
  } catch {
    return '';
  }
}

function unlessAbsent(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
