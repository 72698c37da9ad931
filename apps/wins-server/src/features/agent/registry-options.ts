/** How the agent finds images, for its plans and for whoever checks that before. */
import {
  checkImage,
  checkRegistries,
  parseReference,
  registriesFiles,
  type CheckOptions,
  type ImageCheck,
  type RegistriesCheck,
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { messageOf, onSystemDrive } from '@wins/wins-program';
import path from 'node:path';
import type { AgentSettings } from './agent-settings.js';

/** What images call an architecture. */
const ARCHITECTURES: Readonly<Partial<Record<string, string>>> = {
  x64: 'amd64',
  arm64: 'arm64',
};

/** Where the agent looks for images, and what of them it unpacks. */
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
    ...{ trust, clock: systemClock, environment },
  };
}

/** Why a text cannot be the name of an image; undefined where it can. */
export function referenceFault(image: string): string | undefined {
  try {
    parseReference(image);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Whoever checks waits in front of a screen. */
const OF_CHECKS = { limits: { idleMs: 10_000 } };

/** See `checkImage` of the agent. @throws AgentError */
export function checkImageOf(
  settings: AgentSettings,
  trust: FileTrust,
  image: string,
  signal: AbortSignal,
): Promise<ImageCheck> {
  return checkImage(image, { ...registryOptions(settings, trust), ...OF_CHECKS }, signal);
}

/** See `checkRegistries` of the agent. @throws AgentError */
export function checkRegistriesOf(
  settings: AgentSettings,
  trust: FileTrust,
  signal: AbortSignal,
): Promise<RegistriesCheck> {
  return checkRegistries({ ...registryOptions(settings, trust), ...OF_CHECKS }, signal);
}
