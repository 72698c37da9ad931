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
  /** The content that the daemon itself kept; otherwise the copy that a delivery kept, or its file. */
  readonly bytes: Uint8Array;
  /** The pipe that it serves with that config; absent when unknown. */
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
  /** Known releases of programs by SHA-256; these programs are not run for their version again. Default: none. */
  readonly knownVersions?: ReadonlyMap<string, string> | undefined;
  readonly effects: Effects;
  readonly service: ServiceControl;
  readonly host: UpgradeHost;
  readonly probe: ProbeDaemon;
  /** Queries the daemon on a pipe for its runs that outlive it. Default: unknown. */
  readonly runsOf?: (pipe: string) => Promise<RunsOfDaemon | undefined>;
  readonly log: UpgradeLog;
  /** Path of this process's own file, which sweeps keep. */
  readonly ownFile: string;
  /** The config that a daemon reads when its arguments name none. */
  readonly defaultConfig: string;
  /** Returns the config that the daemon of a service serves with, if known. Default: unknown. */
  readonly configServed?: (status: ServiceStatus) => Promise<ServedConfig | undefined>;
  /** Removes the copies of a config file that deliveries kept. Default: there are none. */
  readonly forgetReplaced?: (file: string) => Promise<void>;
  /** The pipe of a daemon with these arguments, by its config. */
  readonly pipeOf: (args: readonly string[]) => Promise<string>;
  /**
   * Returns the reason why the service must not move to a config that lacks current keys; undefined when it may.
   * Default: it may.
   */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Returns who must have signed the new program. Default: nobody, so that any program is accepted. */
  readonly signers?: SignersOf;
  /** Time limit in milliseconds for the service to end, and for a daemon to serve. */
  readonly waitMs: number;
  /** Time limit in milliseconds for a program to print its release or check the config. */
  readonly runMs: number;
}
