import type { AuditVerdict } from '../kernel/audit/verify-audit-log.js';
import type { GuardedParts, LoadedConfig, WinsConfig } from '@wins/config';
import type { RecoveredProcess, StartVerdict } from '@wins/process-manager';
import type { RingEvent } from '../kernel/events/ring-files.js';
import type { RegistriesCheck } from '@wins/system-agent';
import type { ApplicationInfo, ConfigDescription } from '@wins/wins-api';
import type {
  CsiProxyStatusResponse,
  HostNetworkStatusResponse,
  PlanStatusResponse,
} from '@wins/wins-api/contract';
import type { GuardedKey } from '@wins/base';
import type { AgentSettings } from '../features/agent/agent-settings.js';
import type { ServedNote } from '../configuration/served-note.js';
import type { UpgradeResult } from '@wins/service-upgrade';
import type { Finding } from './finding.js';

/** Whether someone else could have put a file where it is, or could change it. */
export type FileJudgement =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'missing' }
  /** `fault` is the reason in a few words, `message` the whole sentence. */
  | { readonly kind: 'untrusted'; readonly fault: string; readonly message: string };

export type DialOutcome = 'open' | 'refused' | 'silent';

/** Access rules of a pipe that is served. */
export interface PipeAccess {
  /** The rules as they are: `mode 600, user 0`. */
  readonly found: string;
  /** Which of them are wrong. */
  readonly faults: readonly string[];
}

/** Where the audit log is kept. */
export interface AuditFolder {
  readonly path: string;
  readonly place: FileJudgement;
  /** Others who may look into it, or the reason why this user cannot write there. */
  readonly faults: readonly string[];
}

/** Runs, tunnels and streams of a daemon. */
export interface DaemonActivity {
  /** Names of the runs that have not ended. */
  readonly runs: readonly string[];
  readonly tunnels: number;
  readonly streams: number;
}

/** Questions of the doctor about a host. Nothing here changes anything; a method that cannot look rejects. */
export interface DoctorHost {
  /** This program, the `process.versions.node` that runs it, and the system with the user who asks: others see less of it. */
  versions(): Promise<{
    readonly wins: ApplicationInfo;
    readonly node: string;
    readonly system: string;
  }>;
  /** The config file that is looked at. */
  readonly configFile: string;
  /** @throws ConfigError */
  loadConfig(): Promise<LoadedConfig>;
  /** Reads the note of the daemon with this pipe about the config that it serves with; undefined when there is none. */
  servedNote(listen: string): Promise<ServedNote | undefined>;
  /** Guarded keys of an earlier config that this one lacks, and may not drop. */
  missingKeys(before: GuardedParts, loaded: LoadedConfig): Promise<readonly GuardedKey[]>;
  /**
   * Loads the config that the daemon served with last, which a start uses when the file cannot be used; undefined when none is kept.
   *
   * @throws ConfigError
   */
  loadKeptConfig(): Promise<LoadedConfig | undefined>;
  /** Judges the place of a file as the daemon does before it runs it. */
  judgeFile(path: string): Promise<FileJudgement>;
  /** Judges who else could put something into a folder. */
  judgeFolder(path: string): Promise<FileJudgement>;
  /** Judges the place of a file as the daemon does before an upgrade to it. */
  judgeWatchedFile(path: string): Promise<FileJudgement>;
  auditFolder(config: WinsConfig): Promise<AuditFolder>;
  /** Verifies the last 8 MiB of an audit log. */
  verifyAudit(directory: string): Promise<AuditVerdict>;
  /** How the latest upgrade of the service ended; undefined when there was none. */
  latestUpgrade(): Promise<UpgradeResult | undefined>;
  /** The phase of an upgrade without an end, as its journal says; undefined when there is none. */
  upgradeUnderWay(): Promise<string | undefined>;
  /** Judges whether a listed program would start, its pinned digests included. */
  judgeStart(path: string, config: WinsConfig): Promise<StartVerdict>;
  /** Free bytes of the disk of a folder, which need not exist yet. */
  freeBytes(folder: string): Promise<number>;
  /** Events of the last 24 hours, the oldest first: those of the daemon, else those on the disk. @throws DaemonCallError */
  recentEvents(name: string): Promise<readonly RingEvent[]>;
  /** Descriptors of a process; undefined where the system has no such limit. */
  descriptors(pid: number): Promise<{ readonly open: number; readonly most: number } | undefined>;
  /** Connects to a port of the loopback for a second at most. */
  dial(port: number): Promise<DialOutcome>;
  /** Connects to a port of another host for a second at most. `refused`: also where it cannot be reached. */
  dialAt(host: string, port: number): Promise<DialOutcome>;
  /** Addresses of IPv4 on the links of this host, each with whether it answers there; undefined where the system has no such file. */
  neighbours(): Promise<ReadonlyMap<string, boolean> | undefined>;
  /** Runs, tunnels and streams of the daemon. @throws DaemonCallError */
  activity(name: string): Promise<DaemonActivity>;
  /** Connects to a pipe and hangs up. @throws PipeError */
  reachPipe(name: string): Promise<void>;
  /** @param wanted - `pipeAccess` of the config. */
  pipeAccess(name: string, wanted?: string): Promise<PipeAccess>;
  /** Asks the daemon behind a pipe which build it is. */
  daemonInfo(name: string): Promise<ApplicationInfo>;
  /** Asks it which config file is in force, and since when it runs, as the two below on its pipe of administrators. @throws DaemonCallError */
  daemonConfig(name: string): Promise<ConfigDescription>;
  /** Reads the Secret of the node from the API server, and asks whether it may be written. @throws AgentError */
  reachSecret(settings: AgentSettings): Promise<'found' | 'missing'>;
  /** Asks the registries that `registries.yaml` names whether they answer and take their logins. @throws AgentError */
  checkRegistries(settings: AgentSettings): Promise<RegistriesCheck>;
  /** Asks the daemon where its plans stand. @throws DaemonCallError */
  planStatus(name: string): Promise<PlanStatusResponse>;
  /** Asks the daemon how far csi-proxy is. @throws DaemonCallError */
  csiProxyStatus(name: string): Promise<CsiProxyStatusResponse>;
  /** Asks the daemon how the routes of the host stand. @throws DaemonCallError */
  networkStatus(name: string): Promise<HostNetworkStatusResponse>;
  /** Milliseconds since 1970. */
  now(): number;
  /** Finds processes of runs whose daemon is dead. */
  orphans(config: WinsConfig): Promise<readonly RecoveredProcess[]>;
  /** Checks that only this system has: services, firewall rules. */
  readonly systemChecks: readonly Check[];
  /** Where the log of the daemon is, for advice: a folder, or what holds it. */
  readonly logPlace: string;
}

/** One question of the doctor. What it throws becomes a warning that it could not be answered. */
export interface Check {
  /** The name in the report. */
  readonly name: string;
  /** Whether it is about the content of the config: skipped when the file cannot be used, which is reported once. */
  readonly needsConfig?: boolean;
  /** @param loaded - What the daemon would start with now; the defaults when the file cannot be used. */
  readonly look: (host: DoctorHost, loaded: LoadedConfig) => Promise<readonly Finding[]>;
}
