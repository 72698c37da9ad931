import {
  ConfigError,
  defaultConfigPath,
  forgetReplaced,
  loadConfig,
  parseConfig,
  readLastGood,
  readReplaced,
} from '@wins/config';
import {
  configFileOf,
  Effects,
  mergeServiceArgs,
  throughLinks,
  UpgradeError,
  UpgradeLog,
  type Around,
  type ServiceStatus,
  type SignersOf,
  type SystemParts,
  type UpgradeContext,
} from '@wins/service-upgrade';
import type { InstallPaths } from '@wins/installation';
import { messageOf } from '@wins/base';
import { randomUUID } from 'node:crypto';
import type { NodeParts } from './install/node-parts.js';
import { system } from './system.js';

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
    ...{ askedBy, attempt, knownVersions, refuseDrops, forgetReplaced },
    configServed: (status) => configServed(status, parts.host),
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
    ...{ id: id ?? randomUUID(), effects, log, waitMs, defaultConfig: defaultConfigPath() },
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
 * Returns the config that the running daemon uses. Prefers the copy that the daemon stored, but a Go release stores none. Without that copy,
 * returns the saved content that the file had when the daemon started. Without either, reads the file.
 */
async function configServed({ command, pid }: ServiceStatus, host: UpgradeContext['host']) {
  const file = configFileOf(command.args, defaultConfigPath());
  // An untrusted copy counts as absent.
  const kept = await readLastGood(file, host.trust).catch(() => undefined);
  const startedMs = kept === undefined && pid !== undefined ? host.startedAt(pid) : undefined;
  const replaced =
    startedMs === undefined
      ? undefined
      : await readReplaced(file, startedMs, host.trust).catch(() => undefined);
  if (replaced !== undefined) {
    // This release may not understand the config of a Go daemon.
    const pipe = await unlessWrong(() => parseConfig(replaced).config.listen);
    return { file, bytes: replaced, ...(pipe !== undefined && { pipe }) };
  }
  // Ignore an invalid config: a rollback cannot use it, and the new program checks it later.
  return unlessWrong(async () => {
    const bytes = kept ?? (await loadConfig(file, { trust: host.trust })).bytes;
    return bytes && { file, bytes, pipe: parseConfig(bytes).config.listen };
  });
}

/**
 * Returns the `signedBy` lists of the served config and of the config file. For a new service, `winsArgs` names the file. Skips either config
 * if it is invalid. The step `checkConfig` later stops the upgrade if the new program does not accept the config file.
 */
function signersOf(host: UpgradeContext['host']): SignersOf {
  return async (status, { winsArgs }) => {
    const served = status && (await configServed(status, host));
    const args = mergeServiceArgs(status?.command.args, status ? undefined : winsArgs);
    const file = configFileOf(args, defaultConfigPath());
    const configs = await Promise.all([
      served && unlessWrong(() => parseConfig(served.bytes)),
      unlessWrong(() => loadConfig(file, { trust: host.trust })),
    ]);
    const lists = configs.map((loaded) => loaded?.config.upgrade.signedBy);
    return lists.filter((list) => list !== undefined);
  };
}

async function unlessWrong<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
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
