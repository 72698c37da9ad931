import type { JudgedValue, LoadedConfig, WinsConfig } from '@wins/config';
import type { CredentialProviderPaths } from '@wins/system-agent';
import { quoteText } from '@wins/base';
import path from 'node:path';
import { isOff, type FeatureOff } from '../../kernel/feature.js';
import type { JudgingOptions } from '../../kernel/judging-options.js';

const NO_EFFECT = { severity: 'warning', code: 'noEffect' } as const;

/** All paths are absolute. */
export interface AgentSettings {
  readonly workDirectory: string;
  readonly preserveWorkDirectory: boolean;
  readonly appliedPlanDirectory: string;
  readonly imagesDirectory: string;
  /** Absent: no local plans. */
  readonly localPlanDirectory?: string;
  /** Absent: no remote plan is followed. */
  readonly connectionInfoFile?: string;
  /** Absent: the paths of Rancher's distributions are used. */
  readonly agentRegistriesFile?: string;
  /** Absent: no credential provider is called. */
  readonly credentialProviders?: CredentialProviderPaths;
  /** Whether the agent trusts only the authority in the connection info. */
  readonly isStrict: boolean;
}

/** `keyPath` is absent if there is no section `systemagent`. */
interface AgentOff extends FeatureOff {
  readonly keyPath?: string;
}

/** Folder of Rancher's agent, for paths that the config omits. */
const HOME = { win32: 'C:/var/lib/rancher/agent', other: '/var/lib/rancher/agent' } as const;
const PATHS = [
  'workDirectory',
  'appliedPlanDirectory',
  'imagesDirectory',
  'localPlanDirectory',
  'connectionInfoFile',
  'agentRegistriesFile',
  'imageCredentialProviderConfig',
  'imageCredentialProviderBinDirectory',
] as const;

export type AgentConfig = Pick<WinsConfig, 'systemAgent' | 'agentStrictTlsMode'>;

/** Gives the agent an API server, in a message. */
export const FOLLOWS_SERVER = 'systemagent.remoteEnabled: true';

export function agentSettings(
  { systemAgent, agentStrictTlsMode }: AgentConfig,
  platform: NodeJS.Platform = process.platform,
): AgentSettings | AgentOff {
  if (systemAgent === undefined) return { reason: 'the config has no section systemagent' };
  const { localEnabled, remoteEnabled, preserveWorkDirectory } = systemAgent;
  if (!localEnabled && !remoteEnabled) {
    const reason = 'neither remoteEnabled nor localEnabled is true';
    return { reason, keyPath: 'systemagent' };
  }
  const isWindows = platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  for (const key of PATHS) {
    const value = systemAgent[key];
    if (value === undefined || paths.isAbsolute(value)) continue;
    const reason = `${key} is ${quoteText(value)}, which is not an absolute path`;
    return { reason, keyPath: `systemagent.${key}` };
  }
  const home = isWindows ? HOME.win32 : HOME.other;
  const { agentRegistriesFile, imageCredentialProviderConfig: configFile } = systemAgent;
  const binDirectory = systemAgent.imageCredentialProviderBinDirectory ?? '';
  return {
    workDirectory: systemAgent.workDirectory ?? `${home}/work`,
    preserveWorkDirectory,
    appliedPlanDirectory: systemAgent.appliedPlanDirectory ?? `${home}/applied`,
    imagesDirectory: systemAgent.imagesDirectory ?? `${home}/images`,
    ...(localEnabled && { localPlanDirectory: systemAgent.localPlanDirectory ?? `${home}/plans` }),
    ...(remoteEnabled && {
      connectionInfoFile: systemAgent.connectionInfoFile ?? `${home}/rancher2_connection_info.json`,
    }),
    ...(agentRegistriesFile !== undefined && { agentRegistriesFile }),
    ...(configFile !== undefined && { credentialProviders: { configFile, binDirectory } }),
    isStrict: agentStrictTlsMode,
  };
}

/** Reports values without effect. An agent that is off keeps no daemon from starting. */
export function judgeAgent(
  { config }: LoadedConfig,
  { platform }: JudgingOptions,
): readonly JudgedValue[] {
  const unused: JudgedValue[] = [];
  const { systemAgent } = config;
  const settings = agentSettings(config, platform);
  if (isOff(settings) && settings.keyPath !== undefined) {
    const { keyPath } = settings;
    const found = `that ${settings.reason}`;
    const nextStep = 'correct it: no plan is applied until then';
    const expected = 'remoteEnabled or localEnabled, and absolute paths';
    unused.push({ ...NO_EFFECT, keyPath, found, expected, nextStep });
  }
  if (systemAgent?.interlockDirectory !== undefined) {
    const keyPath = 'systemagent.interlockDirectory';
    const found = 'a key that neither this release nor a release of Rancher uses';
    unused.push({ ...NO_EFFECT, keyPath, found, expected: 'none', nextStep: 'remove it' });
  }
  return unused;
}
