import type {
  PipeSecurity,
  PipeServerCheck,
  PortOpener,
  ProcessHost,
  IdentifyClient,
} from '@wins/base';
import type { Readable } from 'node:stream';
import type { FileTrust } from '@wins/trusted-files';
import type { PlanFilesOf } from './features/agent/running-agent.js';
import type { Logger } from './kernel/log/logger.js';

/** Port of this program to its operating system; `posix.ts` and `windows.ts` implement it, `this-system.ts` selects. */
export interface OperatingSystem {
  readonly processHost: () => ProcessHost;
  /**
   * @param pipeAccess - SDDL for the pipes on Windows. Default: administrators and SYSTEM. @throws WindowsError `invalidArgument` for a bad SDDL.
   */
  readonly daemonParts: (logger: Pick<Logger, 'warn'>, pipeAccess?: string) => DaemonSystem;
  /** Returns why this system rejects an SDDL access list for pipes; undefined when it accepts the list or has no such lists. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
  /** Returns true when `daemonParts` provides `identify`. */
  readonly tellsClientsApart: () => boolean;
  /** Checks the server of a pipe before anything is sent to it. Absent: any server is trusted. */
  readonly pipeServerCheck?: () => PipeServerCheck;
  /** Checks the server of an administrators' pipe before anything is sent to it. */
  readonly adminServerCheck: () => PipeServerCheck;
  readonly fileTrust: () => FileTrust;
  /** Creates an empty file for this user and administrators. Absent: permission bits are used. */
  readonly createPrivateFile?: (file: string) => void;
}

/** System-specific parts of a daemon. An absent part is unavailable on this system, or the default of the libraries applies. */
export interface DaemonSystem {
  readonly processHost: ProcessHost;
  /** Restricts pipes to permitted clients. */
  readonly pipeSecurity?: PipeSecurity;
  /** Identifies connecting clients. Absent: clients cannot be identified. */
  readonly identify?: IdentifyClient;
  /** Security and client identification of the administrators' pipe, independent of the config. Absent: as for the other pipes. */
  readonly adminPipe?: { readonly security: PipeSecurity; readonly identify: IdentifyClient };
  /**
   * Returns the start time of a client session, because Windows reuses session numbers; undefined when unknown. Absent: client keys are never reused.
   */
  readonly sessionStart?: (session: number) => string | undefined;
  /** Returns free memory of this process to the system. Absent: not needed, or not possible. */
  readonly trimMemory?: () => void;
  /** Writes files of plans with their permissions. Absent: POSIX permissions. */
  readonly planFiles?: PlanFilesOf;
  /** Starts processes that outlive the daemon. Absent: they get their own sessions, and sockets in private folders. */
  readonly processesApart?: ProcessesApart;
  /** Opens ports of the host's firewall while a run lasts. */
  readonly portOpener?: PortOpener & RecoveredPorts;
}

export interface ProcessesApart {
  /** Starts a program outside the job of this process, without a window or input. @throws WindowsError. */
  start(
    program: Readonly<{
      file: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
    }>,
  ): { readonly stdout: Readable; readonly kill: () => void };
  /** Returns a check that runs before anything is sent: `process`, in the form of `ProcessHost.daemon`, must serve the pipe. */
  serverCheck(process: string): PipeServerCheck;
}

/** Firewall ports that stay open after a daemon has died. */
export interface RecoveredPorts {
  /** Closes all ports except those of live runs. It lists the open ports before its first wait, so a run that starts meanwhile keeps its ports. */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
}
