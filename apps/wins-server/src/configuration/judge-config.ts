import { judgeValues, type JudgedValue, type LoadedConfig, type WinsConfig } from '@wins/config';
import {
  checkAllowedExecutables,
  checkProcessEnvironment,
  doubtAllowedExecutables,
  type AllowedExecutableProblem,
  type PathDialect,
} from '@wins/process-manager';
import { quoteText } from '@wins/base';
import { agentSettings, isOff } from '../features/agent/agent-settings.js';
import { csiProxySettings } from '../features/csi-proxy/settings/judge-settings.js';
import { faultsOfKeep } from '../features/detached/kept-programs.js';
import { allowedBy } from './allowed-executables.js';
import type { JudgingOptions } from './daemon-folders.js';
import { judgeListedFolders, judgeOwnFolders } from './judge-folders.js';
import { judgeNodes } from './judge-nodes.js';
import { judgePipes } from './judge-pipes.js';

const NO_EFFECT = { severity: 'warning', code: 'noEffect' } as const;

/** Judges a well-formed config. All loaders use these rules, so the daemon accepts each config that another loader accepted. @throws ConfigError */
export async function judgeConfig(loaded: LoadedConfig, options: JudgingOptions) {
  const { config } = loaded;
  const dialect = options.platform === 'win32' ? 'windows' : 'posix';
  const pipes = judgePipes(config, options);
  const hasPipes = !pipes.some(
    ({ severity, keyPath }) => severity === 'error' && keyPath !== 'pipeAccess',
  );
  return judgeValues(loaded, [
    ...pipes,
    ...(hasPipes ? judgeOwnFolders(config, options) : []),
    ...judgeEnvironment(config, dialect),
    ...judgeEntries(loaded, dialect, options),
    ...judgeKeep(config, dialect, options),
    ...(options.host === undefined ? [] : await judgeListedFolders(config, options.isStrict)),
    ...judgeUnused(config, options.platform),
    ...(await judgeNodes(config, options)),
    ...judgeCsiProxy(loaded, options),
  ]);
}

function judgeEnvironment(config: WinsConfig, dialect: PathDialect): readonly JudgedValue[] {
  return checkProcessEnvironment(config.processEnvironment, dialect).map(({ message }) => ({
    severity: 'error',
    keyPath: 'processEnvironment',
    found: message,
    expected:
      'variables that are safe for every program; use "envs" of an entry for variables of one program',
  }));
}

function judgeEntries(
  { config, warnings }: LoadedConfig,
  dialect: PathDialect,
  { isStrict, host }: JudgingOptions,
): readonly JudgedValue[] {
  const allowed = allowedBy(config);
  const told = new Set(warnings.map(({ keyPath }) => keyPath));
  const faults = checkAllowedExecutables(allowed, dialect).map((fault): JudgedValue =>
    fault.neverMatches
      ? {
          severity: isStrict ? 'error' : 'warning',
          ...entryOf(fault),
          nextStep: 'correct or remove it: it never matches',
        }
      : { severity: 'warning', code: 'duplicateEntry', ...entryOf(fault) },
  );
  const asksForClients = allowed.some((entry) => entry.for !== undefined);
  // If the config is for another host, assume true, because that host cannot be asked.
  const tellsCallersApart = !asksForClients || (host?.tellsClientsApart() ?? true);
  const doubts = doubtAllowedExecutables(allowed, dialect, { tellsCallersApart }).map(
    (doubt): JudgedValue => ({ severity: 'warning', code: 'doubtful', ...entryOf(doubt) }),
  );
  // Omit duplicates that were reported when the file was read.
  const isNew = ({ code, keyPath }: JudgedValue) => code !== 'duplicateEntry' || !told.has(keyPath);
  return [...faults, ...doubts].filter(isNew);
}

/** The daemon ignores a faulty entry, so it is an error only if `isStrict`. */
function judgeKeep(
  config: WinsConfig,
  dialect: PathDialect,
  { isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  return faultsOfKeep(config, dialect).map(({ index, found, wanted }) => ({
    ...(isStrict ? ({ severity: 'error' } as const) : NO_EFFECT),
    ...{ keyPath: `keep[${index}]`, found, expected: wanted },
    nextStep: 'correct it: it is ignored until then',
  }));
}

function entryOf({ index, path, found, wanted }: AllowedExecutableProblem) {
  return {
    keyPath: `white_list.processPaths[${index}]`,
    found: `${quoteText(path)}: ${found}`,
    expected: wanted,
  };
}

function judgeUnused(config: WinsConfig, platform: NodeJS.Platform): readonly JudgedValue[] {
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

/** A fault turns off csi-proxy only; the daemon still serves. */
function judgeCsiProxy(
  { config, path }: LoadedConfig,
  { platform, isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  const settings = csiProxySettings(config, path, platform);
  if (settings.kind === 'none') return [];
  if (settings.kind === 'invalid')
    return settings.faults.map(({ keyPath, found, wanted: expected }) => ({
      ...(isStrict ? ({ severity: 'error' } as const) : NO_EFFECT),
      ...{ keyPath, found, expected, nextStep: 'correct it: csi-proxy stays unchanged until then' },
    }));
  const doubts = settings.doubts.map(({ keyPath, found, wanted: expected }): JudgedValue => ({
    ...{ severity: 'warning', code: 'doubtful', keyPath, found, expected },
  }));
  if (platform === 'win32') return doubts;
  const found = `a section for Windows nodes, on ${platform}`;
  const unused = { keyPath: 'csi-proxy', found, expected: 'none', nextStep: 'remove it' };
  return [...doubts, { ...NO_EFFECT, ...unused }];
}
