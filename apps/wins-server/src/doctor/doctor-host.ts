import type { AuditVerdict } from '../kernel/audit/verify-audit-log.js';
import type { GuardedParts, LoadedConfig, WinsConfig } from '@wins/config';
import type { RecoveredProcess, StartVerdict } from '@wins/process-manager';
import type { RingEvent } from '../kernel/events/ring-files.js';
import type { RegistriesCheck } from '@wins/system-agent';
import type { ApplicationInfo } from '@wins/wins-api';
import type { DetachedSummary } from '@wins/wins-api/contract';
import type { CanonicalPath, GuardedKey } from '@wins/base';
import type { AgentSettings } from '../features/agent/agent-settings.js';
import type { ServedNote } from '../configuration/served-note.js';
import type { UpgradeResult } from '@wins/service-upgrade';
import type { Told } from '../kernel/told-facts.js';
import type { Reported } from '../kernel/conditions/condition.js';

export type FileJudgement =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'untrusted'; readonly message: string };

export type DialOutcome = 'open' | 'refused' | 'silent';

export interface PipeAccess {
  readonly found: string;
  readonly faults: readonly string[];
}

export interface AuditFolder {
  readonly path: string;
  readonly judgement: FileJudgement;
  /** Other users with access, or why this user cannot write there. */
  readonly faults: readonly string[];
}

export interface DaemonStatus {
  /** Absolute path of the config in force. */
  readonly configFile: string;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly conditions: readonly Reported[];
}

/** Questions of the doctor about a host. None changes the host; each rejects if it has no answer. */
export interface DoctorHost {
  /** `system` also names the current user, whose permissions limit the findings. */
  versions(): Promise<{
    readonly wins: ApplicationInfo;
    readonly node: string;
    readonly system: string;
  }>;
  readonly configFile: string;
  /** @throws ConfigError */
  loadConfig(): Promise<LoadedConfig>;
  servedNote(listen: string): Promise<ServedNote | undefined>;
  missingKeys(before: GuardedParts, loaded: LoadedConfig): Promise<readonly GuardedKey[]>;
  /** Returns the stored config, with which the daemon starts when its file is unusable. @throws ConfigError */
  loadKeptConfig(): Promise<LoadedConfig | undefined>;
  judgeFolder(path: string): Promise<FileJudgement>;
  /** Judges a watched file as the daemon does before it starts an upgrade to that file. */
  judgeWatchedFile(path: CanonicalPath): Promise<FileJudgement>;
  auditFolder(config: WinsConfig): Promise<AuditFolder>;
  /** Reads only the last 8 MiB. */
  verifyAudit(directory: string): Promise<AuditVerdict>;
  latestUpgrade(): Promise<UpgradeResult | undefined>;
  upgradeUnderWay(): Promise<string | undefined>;
  /** Judges a listed program as the daemon does before it runs the program. */
  judgeStart(path: string, config: WinsConfig): Promise<StartVerdict>;
  /** Asks over the administrators' pipe. @throws DaemonCallError */
  detachedRuns(name: string): Promise<readonly DetachedSummary[]>;
  /** Returns the SHA-256 of a program. @throws TrustedFileError */
  digestOf(path: string): Promise<string>;
  /** The folder need not exist yet. */
  freeBytes(folder: string): Promise<number>;
  /** Returns the events of the last 24 hours, oldest first: from the daemon, else from the disk. @throws DaemonCallError */
  recentEvents(name: string): Promise<readonly RingEvent[]>;
  /** Returns undefined if the numbers cannot be determined. */
  descriptors(pid: number): Promise<{ readonly open: number; readonly most: number } | undefined>;
  /** Tries the loopback addresses, each for at most 1 s. */
  dial(port: number): Promise<DialOutcome>;
  /** Waits for at most 1 s. An unreachable host counts as `refused`. */
  dialAt(host: string, port: number): Promise<DialOutcome>;
  /** Returns the IPv4 neighbours of this host, and whether each answers; undefined without /proc/net/arp. */
  neighbours(): Promise<ReadonlyMap<string, boolean> | undefined>;
  reachPipe(name: string): Promise<void>;
  /** @param wanted - `pipeAccess` of the config. */
  pipeAccess(name: string, wanted?: string): Promise<PipeAccess>;
  daemonInfo(name: string): Promise<ApplicationInfo>;
  /** Asks over the administrators' pipe, only once. @throws DaemonCallError */
  daemonStatus(name: string): Promise<DaemonStatus>;
  /** Names of the detached runs that live without a daemon. */
  livingRuns(name: string): Promise<readonly string[]>;
  /** Reads the node's Secret, and checks the permission to write it. @throws AgentError */
  reachSecret(settings: AgentSettings): Promise<'found' | 'missing'>;
  /** Checks that the registries in `registries.yaml` answer and accept their credentials. @throws AgentError */
  checkRegistries(settings: AgentSettings): Promise<RegistriesCheck>;
  featureFacts<Facts extends object>(server: string, feature: string): Promise<Told<Facts>>;
  now(): number;
  orphans(config: WinsConfig): Promise<readonly RecoveredProcess[]>;
  readonly systemChecks: readonly Check[];
  /** Location of the daemon's log, for advice: a folder, or `its standard error`. */
  readonly logLocation: string;
}

/** An error that `look` throws becomes a warning. */
export interface Check {
  readonly name: string;
  /** True to skip the check when neither the config file nor its stored copy is usable. Default: false. */
  readonly needsConfig?: boolean;
  /** True to skip the check when the daemon does not answer. Default: false. */
  readonly needsDaemon?: boolean;
  /** @param loaded - Config with which the daemon would start now, else the defaults. */
  readonly look: (host: DoctorHost, loaded: LoadedConfig) => Promise<readonly Reported[]>;
}
