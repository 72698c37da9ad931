import {
  ConfigError,
  ConfigHistory,
  defaultConfigPath,
  loadConfig,
  parseConfig,
  type WinsConfig,
} from '@wins/config';
import {
  configFileOf,
  Effects,
  mergeServiceArgs,
  throughLinks,
  UpgradeError,
  UpgradeLog,
  type Around,
  type SignersOf,
  type SystemParts,
  type UpgradeContext,
} from '@wins/service-upgrade';
import type { InstallPaths } from '@wins/installation';
import { messageOf, signerRuleOf } from '@wins/base';
import { randomUUID } from 'node:crypto';
import type { NodeParts } from './node-of-system.js';
import { system } from './system.js';
import { replacedConfig, unlessInvalid, upgradeConfigs } from './upgrade-configs.js';

export interface UpgradeSettings
  extends
    Pick<UpgradeContext, 'log' | 'askedBy' | 'attempt' | 'knownVersions' | 'refuseDrops'>,
    Partial<Record<'id' | 'ownFile', string | undefined>> {
  /** Default: `rancher-wins`. */
  readonly service?: string | undefined;
  /** Default 60,000. */
  readonly waitMs?: number | undefined;
  readonly around?: Around | undefined;
}

const DEFAULT_WAIT_MS = 60_000;
const LONGEST_RUN_MS = 30_000;

export async function composeUpgrade(settings: UpgradeSettings): Promise<UpgradeContext> {
  const effects = new Effects(settings.around, undefined, system.holdersOf);
  const parts = await system.upgradeParts(settings.service, effects);
  const { askedBy, attempt, knownVersions, refuseDrops } = settings;
  return {
    ...contextOf(parts, effects, settings),
    askedBy,
    attempt,
    knownVersions,
    refuseDrops,
    configs: upgradeConfigs({ host: parts.host, effects, log: settings.log }),
    signers: signersOf(parts.host),
  };
}

function contextOf(
  parts: SystemParts,
  effects: Effects,
  { id, ownFile, log, waitMs = DEFAULT_WAIT_MS }: UpgradeSettings,
): UpgradeContext {
  return {
    ...parts,
    id: id ?? randomUUID(),
    effects,
    log,
    waitMs,
    defaultConfig: defaultConfigPath(),
    pipeOf: (args) => pipeOf(args, parts.host),
    // For a script, this is the script and not its interpreter.
    ownFile: ownFile ?? throughLinks(process.argv[1] ?? process.execPath),
    runMs: Math.min(waitMs, LONGEST_RUN_MS),
  };
}

/** `waitMs` limits each of two waits: for the daemon's end, and for a healthy start. Default: 60,000. */
export async function composeNode(
  paths: InstallPaths,
  { waitMs, log }: Pick<UpgradeSettings, 'waitMs'> & { readonly log: (line: string) => void },
): Promise<NodeParts> {
  const effects = new Effects(undefined, undefined, system.holdersOf);
  const { upgrade, ...node } = await system.nodeParts(paths, effects);
  const context = contextOf(upgrade, effects, { log: new UpgradeLog(log), waitMs });
  return { ...node, upgrade: context, signers: signersOf(upgrade.host) };
}

/**
 * Returns the rules for signatures of all configs that the service has or gets: of the stored copy of the config in force, of the config file, and
 * with `winsArgs` of the file in the new arguments. An unknown rule could forbid the program, so nothing may run then. If a config file is invalid,
 * the config that was last in force decides.
 */
function signersOf(host: UpgradeContext['host']): SignersOf {
  return async (status, { winsArgs }) => {
    const before = status?.command.args;
    const fileBefore = before && configFileOf(before, defaultConfigPath());
    const fileAfter = configFileOf(argumentsAfter(before, winsArgs), defaultConfigPath());
    const configs: WinsConfig[] = [];
    for (const file of new Set([fileBefore ?? fileAfter, fileAfter])) {
      const kept = await servedConfig(file, host);
      const own = await loadConfig(file, { trust: host.trust }).catch(orConfigError);
      if (kept !== undefined) configs.push(kept);
      if (!(own instanceof ConfigError)) configs.push(own.config);
      // Another config replaces the invalid one, so the upgrade may be the repair.
      else if (kept === undefined && file === fileAfter)
        throw unknownRule(`the config ${file} is invalid, and no earlier one is stored`, own);
    }
    if (status !== undefined && fileBefore !== undefined) {
      const replaced = await replacedConfig(fileBefore, status, host);
      const config = replaced && (await unlessInvalid(() => parseConfig(replaced).config));
      if (config !== undefined) configs.push(config);
    }
    return configs.flatMap(({ upgrade }) => signerRuleOf(upgrade) ?? []);
  };
}

/** Returns the present arguments if the plan will refuse the new ones. */
function argumentsAfter(before: readonly string[] | undefined, winsArgs: string | undefined) {
  try {
    return mergeServiceArgs(before, winsArgs);
  } catch (error) {
    if (error instanceof UpgradeError) return before ?? [];
    throw error;
  }
}

/** @throws UpgradeError `refused` for a copy that cannot be used: its rule is unknown. */
async function servedConfig(file: string, { trust }: UpgradeContext['host']) {
  try {
    const served = await new ConfigHistory(file, trust).loadServed();
    return served?.found === true ? served.config : undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw unknownRule(`the stored copy of the config ${file} is unusable`, error);
  }
}

function unknownRule(found: string, cause: ConfigError): UpgradeError {
  const message = `cannot check who has signed the program: ${found}: ${messageOf(cause)}. Start the daemon with a valid config`;
  return new UpgradeError('refused', message, { cause });
}

function orConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}

async function pipeOf(args: readonly string[], { trust }: UpgradeContext['host']): Promise<string> {
  const file = configFileOf(args, defaultConfigPath());
  try {
    return (await loadConfig(file, { trust })).config.listen;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UpgradeError('refused', `the config ${file} is invalid: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
