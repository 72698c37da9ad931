/**
 * The one place where an upgrade is put together from its parts.
 */
import {
  ConfigError,
  defaultConfigPath,
  forgetReplaced,
  loadConfig,
  parseConfig,
  readLastGood,
  readReplaced,
} from '@wins/config';
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import {
  type Around,
  Effects,
  serviceOption,
  type ServedConfig,
  type ServiceStatus,
  type UpgradeContext,
  UpgradeError,
} from '@wins/service-upgrade';
import { messageOf } from '@wins/wins-program';
import { createPosixUpgradeHost } from './posix/posix-upgrade-host.js';
import { createDaemonProbe } from './probe-daemon.js';
import { SupervisedService } from './posix/supervised-service.js';

/** What an upgrade takes from outside, beside what {@link UpgradeContext} says. */
export interface UpgradeSettings
  extends
    Pick<UpgradeContext, 'log' | 'askedBy' | 'attempt' | 'knownVersions'>,
    Partial<Record<'id' | 'ownFile', string | undefined>> {
  /** The service: its name on Windows, default `rancher-wins`; elsewhere its definition file, default `WINS_SERVICE` of the environment. */
  readonly service?: string | undefined;
  /** Judges configs. Default: none is compared with another. */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Default 60,000. */
  readonly waitMs?: number | undefined;
  /** Sees every effect. */
  readonly around?: Around | undefined;
}

/** Says why a service may not come to a config that lacks what it has now; undefined when it may. */
export type RefuseDrops = (config: {
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}) => Promise<string | undefined>;

const DEFAULT_WAIT_MS = 60_000;
const LONGEST_RUN_MS = 30_000;

type SystemParts = Pick<UpgradeContext, 'service' | 'host' | 'probe'>;

/** Makes the parts for this system. */
export async function composeUpgrade(settings: UpgradeSettings): Promise<UpgradeContext> {
  const { waitMs = DEFAULT_WAIT_MS, log, askedBy, attempt, knownVersions } = settings;
  const effects = new Effects(settings.around);
  const parts = await systemParts(settings.service, effects);
  return {
    ...{ id: settings.id ?? randomUUID(), askedBy, attempt, knownVersions, effects, log, waitMs },
    ...parts,
    ...{ configServed: (status) => configServed(status, parts.host), forgetReplaced },
    ...{ ownFile: settings.ownFile ?? ownFile(), defaultConfig: defaultConfigPath(), pipeOf },
    refuseDrops:
      settings.refuseDrops &&
      ((before, after, allowDrop) => {
        const files = { before: before && configOf(before), after: configOf(after) };
        return settings.refuseDrops?.({ ...files, allowDrop }) ?? Promise.resolve(undefined);
      }),
    runMs: Math.min(waitMs, LONGEST_RUN_MS),
  };
}

/** Whether there can be an upgrade at all: systems without a service manager need a file that stands for the service. */
export function isServiceNamed(service: string | undefined): boolean {
  return process.platform === 'win32' || definitionFile(service) !== undefined;
}

function definitionFile(service: string | undefined): string | undefined {
  return service ?? process.env['WINS_SERVICE'];
}

async function systemParts(service: string | undefined, effects: Effects): Promise<SystemParts> {
  // The platform is a constant of a bundle: the one for Windows does without the parts of others.
  if (process.platform !== 'win32') return posixParts(service, effects);
  const { windowsUpgradeParts } = await import('./windows/windows-upgrade-parts.js');
  return windowsUpgradeParts(service, effects);
}

function posixParts(service: string | undefined, effects: Effects): SystemParts {
  const definition = definitionFile(service);
  if (definition === undefined || !path.isAbsolute(definition)) {
    throw new UpgradeError(
      'refused',
      `there is no service to upgrade: found ${definition ?? 'none named'}; wanted --service, or WINS_SERVICE in the environment, with the absolute path of its definition`,
    );
  }
  return {
    service: new SupervisedService(definition, effects),
    host: createPosixUpgradeHost(),
    probe: createDaemonProbe(),
  };
}

/** The program that this process is; a script counts, not what runs it. */
export function ownFile(): string {
  const file = process.argv[1] ?? process.execPath;
  try {
    return realpathSync(file);
  } catch {
    return file; // an upgrade that has just succeeded moved it away
  }
}

/**
 * Returns the config that a daemon keeps as the one that it serves with. For one that keeps
 * nothing, such as a Go release, that is the content that was in place when it was started: a
 * delivery may have replaced it since, and kept it.
 */
async function configServed(
  { command, pid }: ServiceStatus,
  host: UpgradeContext['host'],
): Promise<ServedConfig | undefined> {
  const file = configOf(command.args);
  // What cannot be trusted is as good as nothing: the file itself is judged by who starts with it.
  const kept = await readLastGood(file, host.trust).catch(() => undefined);
  const startedMs = kept === undefined && pid !== undefined ? host.startedAt(pid) : undefined;
  const replaced =
    startedMs === undefined
      ? undefined
      : await readReplaced(file, startedMs, host.trust).catch(() => undefined);
  // A Go daemon serves with what this release may not understand.
  if (replaced !== undefined) return { file, bytes: replaced, ...pipeIn(replaced) };
  try {
    const bytes = kept ?? (await loadConfig(file)).bytes;
    if (bytes === undefined) return undefined;
    return { file, bytes, pipe: parseConfig(bytes).config.listen };
  } catch (error) {
    // It is of no use for going back, and whether the new program takes it is judged next.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function pipeIn(bytes: Uint8Array): Pick<ServedConfig, 'pipe'> {
  try {
    return { pipe: parseConfig(bytes).config.listen };
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}

/** Reads the config as the daemon will. */
export async function pipeOf(args: readonly string[]): Promise<string> {
  const file = configOf(args);
  try {
    return (await loadConfig(file)).config.listen;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UpgradeError('refused', `the config ${file} is wrong: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The config that a daemon with these arguments reads. */
function configOf(args: readonly string[]): string {
  return serviceOption(args, 'config') ?? defaultConfigPath();
}
