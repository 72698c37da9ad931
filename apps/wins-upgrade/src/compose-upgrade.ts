/**
 * The one place where an upgrade is put together from its parts.
 */
import { ConfigError, defaultConfigPath, loadConfig } from '@wins/config';
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { Effects, type Around } from './effects.js';
import { createPosixUpgradeHost } from './posix-upgrade-host.js';
import { createDaemonProbe } from './probe-daemon.js';
import { serviceOption } from './service-args.js';
import { SupervisedService } from './supervised-service.js';
import type { UpgradeContext } from './upgrade-context.js';
import { messageOf, UpgradeError } from './upgrade-error.js';
import type { UpgradeLog } from './upgrade-log.js';

/** What an upgrade takes from outside. */
export interface UpgradeSettings {
  /** The service: its name on Windows, by default `rancher-wins`; else its definition file, by default `/etc/rancher/wins/service.json`. */
  readonly service?: string | undefined;
  /** Default: a new one. */
  readonly id?: string | undefined;
  /** See {@link UpgradeContext}. */
  readonly askedBy?: string | undefined;
  readonly log: UpgradeLog;
  /** See {@link UpgradeContext}. Default 60,000. */
  readonly waitMs?: number | undefined;
  /** How long a file that somebody else holds is waited for. Default 15,000. */
  readonly heldFileMs?: number | undefined;
  /** Sees every effect. */
  readonly around?: Around | undefined;
}

const DEFAULT_DEFINITION = '/etc/rancher/wins/service.json';
const DEFAULT_WAIT_MS = 60_000;
const LONGEST_RUN_MS = 30_000;

/** Makes the parts for this system. */
export async function composeUpgrade(settings: UpgradeSettings): Promise<UpgradeContext> {
  const { heldFileMs, waitMs = DEFAULT_WAIT_MS } = settings;
  const effects = new Effects(settings.around, heldFileMs === undefined ? {} : { heldFileMs });
  return {
    id: settings.id ?? randomUUID(),
    askedBy: settings.askedBy,
    effects,
    ...(await systemParts(settings.service, effects)),
    log: settings.log,
    ownFile: ownFile(),
    pipeOf,
    waitMs,
    runMs: Math.min(waitMs, LONGEST_RUN_MS),
  };
}

async function systemParts(
  service: string | undefined,
  effects: Effects,
): Promise<Pick<UpgradeContext, 'service' | 'host' | 'probe'>> {
  if (process.platform === 'win32') {
    return (await import('./windows-upgrade-parts.js')).windowsUpgradeParts(service, effects);
  }
  return {
    service: new SupervisedService(service ?? DEFAULT_DEFINITION, effects),
    host: createPosixUpgradeHost(effects),
    probe: createDaemonProbe(),
  };
}

/** The program that this process is; a script counts, not what runs it. */
function ownFile(): string {
  const file = process.argv[1] ?? process.execPath;
  try {
    return realpathSync(file);
  } catch {
    return file; // an upgrade that has just succeeded moved it away
  }
}

/** Reads the config as the daemon will. */
async function pipeOf(args: readonly string[]): Promise<string> {
  const file = serviceOption(args, 'config') ?? defaultConfigPath();
  try {
    return (await loadConfig(file)).config.listen;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UpgradeError('refused', `the config ${file} is wrong: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
