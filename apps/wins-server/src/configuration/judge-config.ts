import { judgeValues, type JudgedValue, type LoadedConfig, type WinsConfig } from '@wins/config';
import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import {
  checkAllowedExecutables,
  checkProcessEnvironment,
  doubtAllowedExecutables,
  type AllowedExecutableProblem,
  type PathDialect,
} from '@wins/process-manager';
import { quoteText } from '@wins/wins-program';
import { agentSettings, isOff } from '../agent/agent-settings.js';
import { csiProxySettings } from '../csi-proxy/csi-proxy-settings.js';
import { allowedBy } from './allowed-executables.js';
import { listedFolders } from './listed-folders.js';

/** How a config is judged. */
export interface JudgingOptions {
  /** The system that the config is for. */
  readonly platform: NodeJS.Platform;
  /** Whether an entry that can never match is an error, as unknown keys are, or a warning, as for a daemon that starts. */
  readonly isStrict: boolean;
  /** Whether the listed programs are looked at: not for a config that is for another host. */
  readonly looksAtFiles: boolean;
  /** Called for a config with `for` alone. */
  readonly tellsClientsApart: () => boolean;
}

const UNUSED_BY_AGENT = [
  'imageCredentialProviderConfig',
  'imageCredentialProviderBinDirectory',
  'interlockDirectory',
] as const;

/**
 * Says of a config that is well-formed what the daemon cannot use, what can never match and what is doubtful: everyone who loads a
 * config for the daemon judges it by this.
 *
 * @throws ConfigError `invalid`
 */
export async function judgeConfig(
  loaded: LoadedConfig,
  options: JudgingOptions,
): Promise<LoadedConfig> {
  const { config } = loaded;
  const dialect = options.platform === 'win32' ? 'windows' : 'posix';
  return judgeValues(loaded, [
    ...judgePipeNames(config, options),
    ...judgeEnvironment(config, dialect),
    ...judgeEntries(loaded, dialect, options),
    ...(options.looksAtFiles ? await judgeFolders(config, options) : []),
    ...judgeUnused(config, options.platform),
    ...judgeCsiProxy(loaded, options),
  ]);
}

function judgePipeNames(config: WinsConfig, { platform }: JudgingOptions): readonly JudgedValue[] {
  return (['listen', 'proxy'] as const).flatMap((keyPath) => {
    try {
      resolvePipePath(config[keyPath], { platform });
      return [];
    } catch (error) {
      // Where bare names lie is a question of the host.
      if (!(error instanceof PipeError) || error.code !== 'invalidName') return [];
      const found = `${quoteText(config[keyPath])}: ${error.found ?? 'no name of a pipe'}`;
      const expected = 'NAME, npipe:////./pipe/NAME, \\\\.\\pipe\\NAME or the path of a socket';
      return [{ severity: 'error', keyPath, found, expected }];
    }
  });
}

function judgeEnvironment(config: WinsConfig, dialect: PathDialect): readonly JudgedValue[] {
  return checkProcessEnvironment(config.processEnvironment, dialect).map(({ message }) => ({
    severity: 'error',
    keyPath: 'processEnvironment',
    found: message,
    expected:
      'variables that are safe for every program; "envs" of an entry gives one to its program alone',
  }));
}

function judgeEntries(
  { config, warnings }: LoadedConfig,
  dialect: PathDialect,
  { isStrict, tellsClientsApart }: JudgingOptions,
): readonly JudgedValue[] {
  const allowed = allowedBy(config);
  const told = new Set(warnings.map(({ keyPath }) => keyPath));
  const faults = checkAllowedExecutables(allowed, dialect).map((fault): JudgedValue =>
    fault.neverMatches
      ? {
          severity: isStrict ? 'error' : 'warning',
          ...entryOf(fault),
          nextStep: 'correct or remove it: it allows nothing',
        }
      : {
          ...{ severity: 'warning', code: 'duplicateEntry' },
          ...entryOf(fault),
        },
  );
  const asksForClients = allowed.some((entry) => entry.for !== undefined);
  const tellsCallersApart = !asksForClients || tellsClientsApart();
  const doubts = doubtAllowedExecutables(allowed, dialect, { tellsCallersApart }).map(
    (doubt): JudgedValue => ({
      ...{ severity: 'warning', code: 'doubtful' },
      ...entryOf(doubt),
    }),
  );
  // The same text twice was seen when the file was read.
  const isNew = ({ code, keyPath }: JudgedValue) => code !== 'duplicateEntry' || !told.has(keyPath);
  return [...faults, ...doubts].filter(isNew);
}

function entryOf({ index, path, found, wanted }: AllowedExecutableProblem) {
  return {
    keyPath: `white_list.processPaths[${index}]`,
    found: `${quoteText(path)}: ${found}`,
    expected: wanted,
  };
}

async function judgeFolders(
  config: WinsConfig,
  { isStrict }: JudgingOptions,
): Promise<readonly JudgedValue[]> {
  const folders = await listedFolders(config.whiteList.processPaths.map(({ path }) => path));
  return folders.map((index) => ({
    severity: isStrict ? 'error' : 'warning',
    keyPath: `white_list.processPaths[${index}]`,
    found: `${quoteText(config.whiteList.processPaths[index]?.path ?? '')}: a folder`,
    expected: 'a program',
    nextStep: 'list each program in it by its own path',
  }));
}

/** What this release reads and does nothing with, and what is lost by that. */
function judgeUnused(config: WinsConfig, platform: NodeJS.Platform): readonly JudgedValue[] {
  const unused: JudgedValue[] = [];
  const noEffect = { severity: 'warning', code: 'noEffect' } as const;
  const { systemAgent } = config;
  const settings = agentSettings(config, platform);
  if (isOff(settings) && settings.keyPath !== undefined) {
    const { keyPath } = settings;
    const found = `that ${settings.reason}`;
    const nextStep = 'correct it: no plan is applied until then';
    const expected = 'remoteEnabled or localEnabled, and absolute paths';
    unused.push({ ...noEffect, keyPath, found, expected, nextStep });
  }
  for (const key of UNUSED_BY_AGENT) {
    if (systemAgent?.[key] === undefined) continue;
    const found = 'a key that this release, like those of Rancher, does not use';
    const nextStep = 'remove it';
    unused.push({ ...noEffect, keyPath: `systemagent.${key}`, found, expected: 'none', nextStep });
  }
  return unused;
}

/** A daemon serves whatever is wrong here: it does not keep csi-proxy then. */
function judgeCsiProxy(
  { config, path }: LoadedConfig,
  { platform, isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  const settings = csiProxySettings(config, path, platform);
  if (settings.kind === 'none') return [];
  if (settings.kind === 'invalid')
    return settings.faults.map(({ keyPath, found, wanted: expected }) => {
      const nextStep = 'correct it: csi-proxy stays as it is until then';
      return isStrict
        ? { severity: 'error', keyPath, found, expected, nextStep }
        : { severity: 'warning', code: 'noEffect', keyPath, found, expected, nextStep };
    });
  const doubts = settings.doubts.map(({ keyPath, found, wanted: expected }): JudgedValue => ({
    ...{ severity: 'warning', code: 'doubtful', keyPath, found, expected },
  }));
  if (platform === 'win32') return doubts;
  const found = `a section for nodes of Windows, on ${platform}`;
  const expected = 'none';
  return [
    ...doubts,
    {
      severity: 'warning',
      code: 'noEffect',
      keyPath: 'csi-proxy',
      found,
      expected,
      nextStep: 'remove it',
    },
  ];
}
