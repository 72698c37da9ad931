import type { AuditVerdict } from '@wins/audit-log';
import type { LoadedConfig, WinsConfig } from '@wins/config';
import type { RecoveredProcess } from '@wins/process-manager';
import type { ApplicationInfo } from '@wins/wins-api';
import type { LatestUpgrade } from '../upgrade/upgrader.js';
import type { Finding } from './finding.js';

/** What this program is and what it runs on. */
export interface Versions {
  readonly wins: ApplicationInfo;
  /** `process.versions.node`. */
  readonly node: string;
  /** Name and release of the operating system, and who asks: others see less of it. */
  readonly system: string;
}

/** How a file is placed. */
export type FileJudgement =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'missing' }
  /** Somebody else could have put it there, or could change it. */
  | { readonly kind: 'untrusted'; readonly rule: string; readonly message: string };

/** Who may open a pipe that is served. */
export interface PipeAccess {
  /** The rules as they are: `mode 600, user 0`. */
  readonly found: string;
  /** What of it must not be; empty when all is well. */
  readonly faults: readonly string[];
}

/** Where the audit log is kept. */
export interface AuditFolder {
  readonly path: string;
  readonly place: FileJudgement;
  /** Who but its owner may look into it, or that this user cannot write there; empty when all is well or there is none. */
  readonly faults: readonly string[];
  /** What its disk has left, in bytes; absent when there is none. */
  readonly freeBytes?: number;
}

/**
 * What the doctor asks of the system. Nothing of it changes anything; each rejects when it cannot look, and that becomes a
 * finding of its own.
 */
export interface DoctorProbe {
  versions(): Promise<Versions>;
  /** Loads the config file. @throws ConfigError */
  loadConfig(): Promise<LoadedConfig>;
  /** Judges the place of a file as the daemon does before it runs it. */
  judgeFile(path: string): Promise<FileJudgement>;
  /** Judges the place of a file as the daemon does before it is replaced by it. */
  judgeWatchedFile(path: string): Promise<FileJudgement>;
  /** Looks at the folder of the audit log of the config's daemon. */
  auditFolder(config: WinsConfig): Promise<AuditFolder>;
  /** Checks the end of the newest file of an audit log, 8 MiB at most. */
  verifyAudit(directory: string): Promise<AuditVerdict>;
  /** How the latest upgrade of the service ended; undefined when there was none. */
  latestUpgrade(): Promise<LatestUpgrade | undefined>;
  /** Which entries of the whitelist can never allow anything, and why. */
  faultyEntries(
    config: WinsConfig,
  ): readonly { readonly index: number; readonly message: string }[];
  /** Which entries of the whitelist allow more than may be meant, or less, and what. */
  doubtfulEntries(config: WinsConfig): Promise<readonly { readonly message: string }[]>;
  /** Connects to a pipe and hangs up. @throws PipeError when nobody serves it or it cannot be reached. */
  reachPipe(name: string): Promise<void>;
  /** Reads who may open a pipe. `wanted` is `pipeAccess` of the config. */
  pipeAccess(name: string, wanted?: string): Promise<PipeAccess>;
  /** Asks the daemon behind a pipe which build it is. */
  daemonInfo(name: string): Promise<ApplicationInfo>;
  /** Finds processes of runs whose daemon is dead. */
  orphans(config: WinsConfig): Promise<readonly RecoveredProcess[]>;
}

/** What a check looks at. */
export interface Patient {
  readonly probe: DoctorProbe;
  /** The config in force when the daemon starts now; the defaults when the file cannot be used. */
  readonly config: WinsConfig;
}

/** One question of the doctor. What it throws becomes a warning that it could not be asked. */
export interface Check {
  /** The name in the report. */
  readonly name: string;
  readonly look: (patient: Patient) => Promise<readonly Finding[]>;
}
