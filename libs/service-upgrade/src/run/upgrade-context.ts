import type { Effects } from './effects.js';
import type { ProbeDaemon } from './health-gate.js';
import type { ServiceControl, ServiceStatus, UpgradeHost } from './service-control.js';
import type { UpgradeRecord } from '../journal/upgrade-journal.js';
import type { RunsOfDaemon, UpgradeWish } from '../plan/plan-upgrade.js';
import type { UpgradeLog } from '../journal/upgrade-log.js';

export interface ServedConfig {
  readonly file: string;
  /** Content saved by the daemon or by a delivery of a config; otherwise the content of the file. */
  readonly bytes: Uint8Array;
  readonly pipe?: string;
}

export type SystemParts = Pick<UpgradeContext, 'service' | 'host' | 'probe' | 'runsOf'>;

/** `before` is undefined without a service; `allowDrop` lists the keys that may be missing afterwards. */
export type RefuseDrops = (config: {
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}) => Promise<string | undefined>;

/** Lists of certificates by SHA-256 (`upgrade.signedBy`): the program must be signed by a certificate of each list. */
export type SignersOf = (
  status: ServiceStatus | undefined,
  wish: Pick<UpgradeWish, 'winsArgs'>,
) => Promise<readonly (readonly string[])[]>;

export interface UpgradeContext extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  /** Known releases of programs by SHA-256; these programs are not run for their version again. Default: none. */
  readonly knownVersions?: ReadonlyMap<string, string> | undefined;
  readonly effects: Effects;
  readonly service: ServiceControl;
  readonly host: UpgradeHost;
  readonly probe: ProbeDaemon;
  /** Asks the daemon on a pipe which of its runs it would carry over, and which it would end. Default: unknown. */
  readonly runsOf?: (pipe: string) => Promise<RunsOfDaemon | undefined>;
  readonly log: UpgradeLog;
  /** Path of this process's own file, which sweeps keep. */
  readonly ownFile: string;
  readonly defaultConfig: string;
  /** Returns the config that the daemon of a service serves with, if known. Default: unknown. */
  readonly configServed?: (status: ServiceStatus) => Promise<ServedConfig | undefined>;
  /** Removes the replaced versions of a config file that were kept. Default: there are none. */
  readonly forgetReplaced?: (file: string) => Promise<void>;
  readonly pipeOf: (args: readonly string[]) => Promise<string>;
  /** Returns the reason for refusing a config that lacks current keys, if any. Default: every config is accepted. */
  readonly refuseDrops?: RefuseDrops | undefined;
  /** Certificates that must have signed the new program. Default: none. */
  readonly signers?: SignersOf;
  /** Time limit in milliseconds for the service to end, and for a daemon to serve. */
  readonly waitMs: number;
  /** Time limit in milliseconds for a program to print its release or check the config. */
  readonly runMs: number;
}
