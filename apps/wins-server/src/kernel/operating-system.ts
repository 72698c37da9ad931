import type {
  PipeSecurity,
  PipeServerCheck,
  PortOpener,
  ProcessHost,
  IdentifyClient,
} from '@wins/base';
import type { StartKeeper } from '@wins/process-manager';
import type { PlanFiles } from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import type { Logger } from './log/logger.js';

export type PlanFilesOf = (
  failure: (message: string, options: ErrorOptions) => Error,
  onWarning: (message: string) => void,
) => PlanFiles;

export interface OperatingSystem {
  readonly processHost: () => ProcessHost;
  /**
   * @param pipeAccess - SDDL for the pipes on Windows. Default: administrators and SYSTEM. @throws WindowsError `invalidArgument` for a bad SDDL.
   */
  readonly daemonParts: (logger: Pick<Logger, 'warn'>, pipeAccess?: string) => DaemonSystem;
  /** Returns why Windows rejects the access list of a pipe, if it does. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
  /** True when `daemonParts` provides `identify`. */
  readonly tellsClientsApart: () => boolean;
  /** Checks the server of a pipe before anything is sent to it. Absent: any server is trusted. */
  readonly pipeServerCheck?: () => PipeServerCheck;
  readonly adminServerCheck: () => PipeServerCheck;
  readonly fileTrust: () => FileTrust;
  /** Creates an empty file that only this user and administrators can open. Absent: permission bits are used. */
  readonly createPrivateFile?: (file: string) => void;
}

export interface DaemonSystem {
  readonly processHost: ProcessHost;
  readonly pipeSecurity?: PipeSecurity;
  /** Absent: clients cannot be identified. */
  readonly identify?: IdentifyClient;
  /** Security of the administrators' pipe, independent of the config. Absent: as for the other pipes. */
  readonly adminPipe?: { readonly security: PipeSecurity; readonly identify: IdentifyClient };
  /**
   * Returns the start time of a client's logon session, if known. Windows reuses session numbers, so a number alone identifies no
   * session. Absent: the system never reuses them.
   */
  readonly sessionStart?: (session: number) => string | undefined;
  readonly trimMemory?: () => void;
  /** Writes plan files with their permissions. Absent: uses POSIX permissions. */
  readonly planFiles?: PlanFilesOf;
  /** Starts processes that outlive the daemon. Absent: each process gets its own session, and a socket in a private folder. */
  readonly keepers?: Keepers;
  /** Opens ports of the host firewall for runs. */
  readonly portOpener?: PortOpener & RecoveredPorts;
}

export interface Keepers {
  /** Access to the pipes of keepers. */
  readonly security: PipeSecurity;
  readonly identify: IdentifyClient;
  readonly start: StartKeeper;
  /** Returns a check that `process` serves the pipe. `process` has the form of `ProcessHost.daemon`. */
  serverCheck(process: string): PipeServerCheck;
}

/** Firewall ports that a dead daemon left open. */
export interface RecoveredPorts {
  /** Closes all ports but those of live runs. Ports that open during the call stay open, because `sweep` lists the ports before it first waits. */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
}
