import { localPath, quoteText } from '@wins/base';
import type { JudgedValue, LoadedConfig, WinsConfig } from '@wins/config';
import type { FileTrust } from '@wins/trusted-files';
import { setTimeout as delay } from 'node:timers/promises';
import { isOff } from '../../kernel/feature.js';
import { agentSettings, FOLLOWS_SERVER } from '../agent/agent-settings.js';
import type { JudgingOptions } from '../../kernel/judging-options.js';

const KEY = 'hostNetwork.nodes';
const NO_EFFECT = { severity: 'warning', code: 'noEffect' } as const;
/** Time limit, so that an unresponsive disk does not block the daemon's start. */
const LOOK_MS = 2000;

/** A kubeconfig that cannot be used is a warning, because it may come later. The daemon tries again until then. */
export async function judgeNodes(
  { config }: LoadedConfig,
  { platform, host }: JudgingOptions,
): Promise<readonly JudgedValue[]> {
  const { nodes } = config.hostNetwork ?? {};
  if (nodes?.enabled !== true) return [];
  const { kubeconfig } = nodes;
  if (kubeconfig === undefined) return judgeAgent(config, platform);
  const keyPath = `${KEY}.kubeconfig`;
  // A relative path is refused before.
  if (host === undefined || localPath(kubeconfig, platform) === undefined) return [];
  const over = new AbortController();
  const late = delay(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
  const judged = await Promise.race([judgeFile(kubeconfig, host.trust), late]);
  over.abort();
  if (judged === undefined) return [];
  const about = (found: string) => ({
    keyPath,
    found: `${quoteText(kubeconfig)}: ${found}`,
    expected: 'a kubeconfig that the daemon can use',
  });
  if (!('found' in judged))
    return judged.warnings.map((found) => ({
      severity: 'warning',
      code: 'doubtful',
      ...about(found),
      nextStep: 'correct the file',
    }));
  // Another user may not read what the daemon reads.
  if (judged.cause?.code === 'accessDenied' && process.geteuid?.() !== 0) return [];
  const nextStep = 'correct the file: no node is read until then';
  return [{ ...NO_EFFECT, ...about(judged.found), nextStep }];
}

async function judgeFile(file: string, trust: FileTrust) {
  const { judgeKubeconfigFile } = await import('./node-access.js');
  return judgeKubeconfigFile(file, trust);
}

function judgeAgent(config: WinsConfig, platform: NodeJS.Platform): readonly JudgedValue[] {
  const agent = agentSettings(config, platform);
  if (!isOff(agent) && agent.connectionInfoFile !== undefined) return [];
  const found = 'true, without an API server of the agent';
  const expected = `${FOLLOWS_SERVER}, or nodes: { kubeconfig: PATH }`;
  const nextStep = 'correct it: no node is read until then';
  return [{ ...NO_EFFECT, keyPath: KEY, found, expected, nextStep }];
}
