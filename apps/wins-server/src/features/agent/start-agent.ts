/**
 * The agent of the daemon: where the parts of its library meet. Loaded when the config turns the agent on.
 */
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
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import type { AgentSettings } from './agent-settings.js';
import { fileEffects } from './dry-run.js';
import { registryOptions } from './registry-options.js';
import type { AgentParts, RunningAgent } from './running-agent.js';

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
