import { judgeValues, type JudgedValue, type LoadedConfig, type WinsConfig } from '@wins/config';
import {
  checkAllowedExecutables,
  checkProcessEnvironment,
  doubtAllowedExecutables,
  type AllowedExecutableProblem,
  type PathDialect,
} from '@wins/process-manager';
import { quoteText } from '@wins/base';
import { allowedBy } from './allowed-executables.js';
import type { FeatureChecks } from '../kernel/feature.js';
import type { JudgingOptions } from '../kernel/judging-options.js';
import { judgeListedFolders, judgeOwnFolders } from './judge-folders.js';
import { judgePipes } from './judge-pipes.js';

export type Judging = Pick<FeatureChecks, 'judge'>;

/** Judges a well-formed config. All loaders use these rules, so the daemon accepts each config that another loader accepted. @throws ConfigError */
export async function judgeConfig(
  loaded: LoadedConfig,
  options: JudgingOptions,
  features: readonly Judging[],
) {
  const { config } = loaded;
  const dialect = options.platform === 'win32' ? 'windows' : 'posix';
  const pipes = judgePipes(config, options);
  const hasPipes = !pipes.some(
    ({ severity, keyPath }) => severity === 'error' && keyPath !== 'pipeAccess',
  );
  const ofFeatures: JudgedValue[] = [];
  for (const { judge } of features) ofFeatures.push(...((await judge?.(loaded, options)) ?? []));
  return judgeValues(loaded, [
    ...pipes,
    ...(hasPipes ? judgeOwnFolders(config, options) : []),
    ...judgeEnvironment(config, dialect),
    ...judgeEntries(loaded, dialect, options),
    ...(options.host === undefined ? [] : await judgeListedFolders(config, options.isStrict)),
    ...ofFeatures,
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

function entryOf({ index, path, found, wanted }: AllowedExecutableProblem) {
  return {
    keyPath: `white_list.processPaths[${index}]`,
    found: `${quoteText(path)}: ${found}`,
    expected: wanted,
  };
}
