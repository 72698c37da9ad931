import type { SignerRule } from '@wins/base';
import type { Effects } from '../effects.js';
import type { ProbeDaemon } from './health-gate.js';
import type { ServiceControl, ServiceStatus, UpgradeHost } from '../service/service-control.js';
import type { UpgradeRecord } from '../journal/upgrade-journal.js';
import type { RunsOfDaemon, UpgradeRequest } from '../plan/plan-upgrade.js';
import type { UpgradeLog } from '../journal/upgrade-log.js';

export interface ServedConfig {
  readonly file: string;
  /**
   * The daemon's stored copy of the config. Without one, the content of `file` when the daemon started, if that was kept;
   * otherwise the content of `file` now.
   */
  readonly bytes: Uint8Array;
  readonly pipe?: string;
}

export type SystemParts = Pick<UpgradeContext, 'service' | 'host' | 'probe' | 'runsOf'>;

/** Returns the reason to refuse the config file `after`. `before` is undefined without a service. `after` may lack the keys in `allowDrop`. */
export type RefuseDrops = (config: {
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}) => Promise<string | undefined>;

/** Rules for the signature of the program (`upgrade.signedBy`): the program must fulfil each. @throws UpgradeError `refused` if they are unknown. */
export type SignersOf = (
  status: ServiceStatus | undefined,
  request: Pick<UpgradeRequest, 'winsArgs'>,
) => Promise<readonly SignerRule[]>;

export interface UpgradeContext extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  /** Versions of known programs, by SHA-256. Other programs are run to print theirs. Default: none. */
  readonly knownVersions?: ReadonlyMap<string, string> | undefined;
  readonly effects: Effects;
  readonly service: ServiceControl;
  readonly host: UpgradeHost;
  readonly probe: ProbeDaemon;
  /** Names of the runs of the daemon that serves a pipe. Default: unknown. */
  readonly runsOf?: (pipe: string) => Promise<RunsOfDaemon | undefined>;
  readonly log: UpgradeLog;
  /** Program file of this process; cleaning up does not remove it. */
  readonly ownFile: string;
  readonly defaultConfig: string;
  /** Returns the config that the daemon uses. Default: unknown. */
  readonly configServed?: (status: ServiceStatus) => Promise<ServedConfig | undefined>;
  /** Removes kept versions of a replaced config. Default: removes nothing. */
  readonly forgetReplaced?: (file: string) => Promise<void>;
  readonly pipeOf: (args: readonly string[]) => Promise<string>;
  /** Default: accepts every config. */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Default: none. */
  readonly signers?: SignersOf;
  /** Time limit in milliseconds for the service to end, and for a daemon to serve. */
  readonly waitMs: number;
  /** Time limit in milliseconds for a program to print its release or check the config. */
  readonly runMs: number;
}
