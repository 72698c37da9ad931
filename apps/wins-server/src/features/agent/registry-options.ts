import { parseReference, registriesFiles, type CheckOptions } from '@wins/system-agent';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { messageOf, onSystemDrive } from '@wins/base';
import path from 'node:path';
import type { AgentSettings } from './agent-settings.js';

const ARCHITECTURES: Readonly<Partial<Record<string, string>>> = { x64: 'amd64', arm64: 'arm64' };

export function registryOptions(settings: AgentSettings, trust: FileTrust): CheckOptions {
  const { imagesDirectory, agentRegistriesFile, credentialProviders } = settings;
  const isWindows = process.platform === 'win32';
  const { HOME: home } = process.env;
  const environment = process.env;
  return {
    imagesDirectory,
    registriesFiles: registriesFiles(agentRegistriesFile).map((file) => onSystemDrive(file)),
    ...(home !== undefined && { dockerConfigFile: path.join(home, '.docker', 'config.json') }),
    ...(credentialProviders && { credentialProviders }),
    platform: { os: isWindows ? 'windows' : 'linux', arch: ARCHITECTURES[process.arch] ?? '' },
    ...(isWindows && { subtree: 'Files/bin' }),
    trust,
    clock: systemClock,
    environment,
  };
}

export function referenceFault(image: string): string | undefined {
  try {
    parseReference(image);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Has short time-outs and a limit for all registries together, because a user waits for the result. */
export function checkOptions(settings: AgentSettings, trust: FileTrust): CheckOptions {
  const signal = AbortSignal.timeout(120_000);
  return { ...registryOptions(settings, trust), limits: { idleMs: 10_000 }, signal };
}

export { checkImage, checkRegistries } from '@wins/system-agent';
