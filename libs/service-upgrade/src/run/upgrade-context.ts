import type { Effects } from './effects.js';
import type { ProbeDaemon } from './health-gate.js';
import type { ServiceControl, ServiceStatus, UpgradeHost } from './service-control.js';
import type { UpgradeRecord } from '../journal/upgrade-journal.js';
import type { RunsOfDaemon, UpgradeWish } from '../plan/plan-upgrade.js';
import type { UpgradeLog } from '../journal/upgrade-log.js';

/** The config that a daemon serves with. */
export interface ServedConfig {
  /** The file that its arguments name. */
  readonly file: string;
  /** Content that the daemon kept; for a daemon that keeps none the one that a delivery kept, else its file. */
  readonly bytes: Uint8Array;
  /** Where it serves with that; absent when that cannot be told. */
  readonly pipe?: string;
}

/** The parts of an upgrade that differ between systems. */
export type SystemParts = Pick<UpgradeContext, 'service' | 'host' | 'probe' | 'runsOf'>;

/**
 * Compares two config files by their paths.
 *
 * @param config - `before` is undefined without a service; `allowDrop` has keys that the config may lack afterwards.
 */
export type RefuseDrops = (config: {
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}) => Promise<string | undefined>;

/**
 * Returns lists of certificates (`upgrade.signedBy`), by SHA-256: a program that becomes the daemon must be signed by one of each.
 *
 * @param status - Undefined when there is no service.
 */
export type SignersOf = (
  status: ServiceStatus | undefined,
  wish: Pick<UpgradeWish, 'winsArgs'>,
) => Promise<readonly (readonly string[])[]>;

/** Context of an upgrade. */
export interface UpgradeContext extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  /** Releases that programs were already asked for, by SHA-256: these programs are not run again. Default: none. */
  readonly knownVersions?: ReadonlyMap<string, string> | undefined;
  readonly effects: Effects;
  readonly service: ServiceControl;
  readonly host: UpgradeHost;
  readonly probe: ProbeDaemon;
  /** Asks the daemon on a pipe which of its runs outlive it. Default: no daemon tells. */
  readonly runsOf?: (pipe: string) => Promise<RunsOfDaemon | undefined>;
  readonly log: UpgradeLog;
  /** The file that this process runs from; it is not swept away. */
  readonly ownFile: string;
  /** The config that a daemon reads whose arguments name none. */
  readonly defaultConfig: string;
  /** The config that the daemon of a service serves with, if that is known. Default: it is not. */
  readonly configServed?: (status: ServiceStatus) => Promise<ServedConfig | undefined>;
  /** Removes what deliveries kept of a config file. Default: nothing was kept. */
  readonly forgetReplaced?: (file: string) => Promise<void>;
  /** The pipe of a daemon with these arguments, by its config. */
  readonly pipeOf: (args: readonly string[]) => Promise<string>;
  /** Says why the service may not come to a config that lacks what it has now; undefined when it may. Default: it may. */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Says by whom the new program must be signed. Default: by nobody, so that any program is taken. */
  readonly signers?: SignersOf;
  /** How long the service may take to end, and a daemon to serve, in milliseconds. */
  readonly waitMs: number;
  /** How long a program may take to say its release or to check the config, in milliseconds. */
  readonly runMs: number;
}
