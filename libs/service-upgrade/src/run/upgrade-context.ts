import type { SignerRule } from '@wins/base';
import type { Effects } from '../effects.js';
import type { ProbeDaemon } from './health-gate.js';
import type { ServiceControl, ServiceStatus, UpgradeHost } from '../service/service-control.js';
import type { ConfigBefore, UpgradeRecord } from '../journal/upgrade-journal.js';
import type { RunsOfDaemon, UpgradeRequest } from '../plan/plan-upgrade.js';
import type { UpgradeLog } from '../journal/upgrade-log.js';

/** Configs of the service, so that a rollback can restore the one of the old daemon. */
export interface UpgradeConfigs {
  /** Saves the config that the daemon uses. Undefined when unknown. @throws UpgradeError `fileFailed`. */
  save(status: ServiceStatus): Promise<ConfigBefore | undefined>;
  /**
   * Restores a saved config, and keeps the one that it replaces. Resolves with a description of the change; undefined if nothing was restored.
   * @throws UpgradeError `fileFailed`.
   */
  restore(before: ConfigBefore): Promise<string | undefined>;
  /** Removes kept versions of a replaced config. */
  forgetReplaced(file: string): Promise<void>;
}

/** Parts of the context that depend on the operating system. */
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

/** The node, its daemon, and the limits and callbacks of an upgrade. */
export interface UpgradeContext extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  /** Versions of known programs, by SHA-256. Other programs are run to print theirs. Default: none. */
  readonly knownVersions?: ReadonlyMap<string, string> | undefined;
  readonly effects: Effects;
  readonly service: ServiceControl;
  readonly host: UpgradeHost;
  /** Asks the daemon on a pipe for its release and health. */
  readonly probe: ProbeDaemon;
  /** Names of the runs of the daemon that serves a pipe. Default: unknown. */
  readonly runsOf?: ((pipe: string) => Promise<RunsOfDaemon | undefined>) | undefined;
  readonly log: UpgradeLog;
  /** Program file of this process; cleaning up does not remove it. */
  readonly ownFile: string;
  /** Path of the config that a daemon reads if its arguments contain no `--config`. */
  readonly defaultConfig: string;
  /** Default: no config is saved or restored. */
  readonly configs?: UpgradeConfigs | undefined;
  /** Resolves with the pipe of a daemon that has these arguments. */
  readonly pipeOf: (args: readonly string[]) => Promise<string>;
  /** Default: accepts every config. */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Default: none. */
  readonly signers?: SignersOf | undefined;
  /** Time limit in milliseconds for the service to end, and for a daemon to serve. */
  readonly waitMs: number;
  /** Time limit in milliseconds for a program to print its release or check the config. */
  readonly runMs: number;
}
