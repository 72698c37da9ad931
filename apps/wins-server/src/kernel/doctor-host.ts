/** Questions of the doctor. Features add questions of their own to those about every daemon. */
import type { MethodDefinition } from '@grpc/grpc-js';
import type { CanonicalPath, ProcessHost } from '@wins/base';
import type { ConfigProblem, LoadedConfig, WinsConfig } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import type { FileFingerprint, FileTrust } from '@wins/trusted-files';
import type { ApplicationInfo } from '@wins/wins-api';
import type { AuditVerdict } from './audit/verify-audit-log.js';
import type { Reported } from './conditions/condition.js';
import type { RingEvent } from './events/ring-files.js';
import type { Told } from './told-facts.js';

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
  /** Fingerprint of the daemon's program when it started; empty for a daemon of an earlier release. */
  readonly programFingerprint: FileFingerprint;
  readonly conditions: readonly Reported[];
}

/** Questions of the doctor about a host. None changes the host; each rejects if it has no answer. */
export interface DoctorHost {
  /** `system` also names the current user, whose permissions limit the findings. */
  versions(): {
    readonly wins: Pick<ApplicationInfo, 'version' | 'commit'>;
    readonly node: string;
    readonly system: string;
  };
  programFingerprint(): FileFingerprint;
  /** SHA-1. Reads the whole file, but only once. */
  programChecksum(): Promise<string>;
  readonly configFile: string;
  /** @throws ConfigError */
  loadConfig(): Promise<LoadedConfig>;
  /**
   * Returns the stored config, with which the daemon starts when its file is unusable. @throws ConfigError
   *
   * @param known The config file, unless it is unusable. Returned if the stored config has the same bytes.
   */
  loadKeptConfig(known: LoadedConfig | undefined): Promise<LoadedConfig | undefined>;
  judgeFolder(path: string): Promise<FileJudgement>;
  /** Judges a watched file as the daemon does before it starts an upgrade to that file. */
  judgeWatchedFile(path: CanonicalPath): Promise<FileJudgement>;
  auditFolder(config: WinsConfig): Promise<AuditFolder>;
  /** Reads only the last 8 MiB. */
  verifyAudit(directory: string): Promise<AuditVerdict>;
  /** The folder need not exist yet. */
  freeBytes(folder: string): Promise<number>;
  /** Returns the kept events, oldest first: from the daemon, else from the disk. Reads them once. @throws DaemonCallError */
  events(name: string): Promise<readonly RingEvent[]>;
  /** Those of the last 24 hours. @throws DaemonCallError */
  recentEvents(name: string): Promise<readonly RingEvent[]>;
  /** Returns undefined if the numbers cannot be determined. */
  descriptors(pid: number): Promise<{ readonly open: number; readonly most: number } | undefined>;
  /** Tries the loopback addresses, each for at most 1 s. */
  dial(port: number): Promise<DialOutcome>;
  /** Waits for at most 1 s. An unreachable host counts as `refused`. */
  dialAt(host: string, port: number): Promise<DialOutcome>;
  /** Connects to a pipe, only once. @throws PipeError */
  reachPipe(name: string): Promise<void>;
  /** @param wanted - `pipeAccess` of the config. */
  pipeAccess(name: string, wanted?: string): Promise<PipeAccess>;
  /** Asks over the administrators' pipe. @throws DaemonCallError */
  readonly call: <Request, Answer>(
    name: string,
    method: MethodDefinition<Request, Answer>,
    request: NoInfer<Request>,
  ) => Promise<Answer>;
  /** Processes of this host, without the upgrade helper. */
  readonly processes: () => ProcessHost;
  readonly fileTrust: () => FileTrust;
  daemonInfo(name: string): Promise<ApplicationInfo>;
  /** Asks over the administrators' pipe, only once. @throws DaemonCallError */
  daemonStatus(name: string): Promise<DaemonStatus>;
  featureFacts<Facts extends object>(server: string, feature: string): Promise<Told<Facts>>;
  now(): number;
  readonly systemChecks: readonly Check[];
  /** Location of the daemon's log, for advice: a folder, or `its standard error`. */
  readonly logLocation: string;
}

/** An error that `look` throws becomes a warning. */
export interface Check<Host extends DoctorHost = DoctorHost> {
  readonly name: string;
  /** True to skip the check when neither the config file nor its stored copy is usable. Default: false. */
  readonly needsConfig?: boolean;
  /** True to skip the check when the daemon does not answer. Default: false. */
  readonly needsDaemon?: boolean;
  /** True for warnings of the config that this check reports itself. Default: none. */
  readonly reports?: (warning: ConfigProblem) => boolean;
  /** @param loaded - Config with which the daemon would start now, else the defaults. */
  readonly look: (host: Host, loaded: LoadedConfig) => Promise<readonly Reported[]>;
}

/** Returns a check that also has answers to questions of its feature. */
export function asking<Questions>(
  check: Check<DoctorHost & Questions>,
  questions: (host: DoctorHost) => Questions,
): Check {
  return { ...check, look: (host, loaded) => check.look({ ...host, ...questions(host) }, loaded) };
}

/** Condition of a daemon that nobody can reach, which explains others. */
export const DAEMON_DOWN = 'daemonDown';

/** False only if nobody serves the pipe: a pipe that is busy, or that this user may not open, has a server. */
export function isServed(host: Pick<DoctorHost, 'reachPipe'>, listen: string): Promise<boolean> {
  return host.reachPipe(listen).then(
    () => true,
    (error: unknown) => !(error instanceof PipeError && error.code === 'notFound'),
  );
}
