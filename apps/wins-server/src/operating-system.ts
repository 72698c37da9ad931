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
   * @param logger - Gets what this system cannot do.
   * @param pipeAccess - Who may open the pipes on Windows, as SDDL. Default: administrators and SYSTEM.
   * @throws WindowsError `invalidArgument` for an invalid `pipeAccess`.
   */
  readonly daemonParts: (logger: Pick<Logger, 'warn'>, pipeAccess?: string) => DaemonSystem;
  /** Why this system does not take an access list of pipes that is SDDL; undefined when it does, or has no such lists. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
  /** Whether `daemonParts` has `identify`. */
  readonly tellsClientsApart: () => boolean;
  /** Checks who serves a pipe before anything is said to it. Absent: any server is trusted. */
  readonly pipeServerCheck?: () => PipeServerCheck;
  /** Checks who serves a pipe of administrators before anything is said to it. */
  readonly adminServerCheck: () => PipeServerCheck;
  readonly fileTrust: () => FileTrust;
  /** Makes an empty file for this user and administrators. Absent: by permission bits. */
  readonly createPrivateFile?: (file: string) => void;
}

/** Parts that the operating system gives to a daemon. An absent part does not exist here, or is a default of the libraries. */
export interface DaemonSystem {
  readonly processHost: ProcessHost;
  /** Opens pipes for those clients alone that may use them. */
  readonly pipeSecurity?: PipeSecurity;
  /** Says which client connects. Absent: clients cannot be told apart. */
  readonly identify?: IdentifyClient;
  /** How the pipe of administrators is opened, whatever the config says, and who connects to it. Absent: as the others. */
  readonly adminPipe?: { readonly security: PipeSecurity; readonly identify: IdentifyClient };
  /**
   * Tells a session of clients from another of the same number; undefined when the system does not say. Absent: the keys of
   * clients are not given again.
   */
  readonly sessionStart?: (session: number) => string | undefined;
  /** Gives free memory of this process back to the system. Absent: not needed, or not possible. */
  readonly trimMemory?: () => void;
  /** Files of plans, with their permissions. Absent: as POSIX has them. */
  readonly planFiles?: PlanFilesOf;
  /** Absent: sessions of their own, whose sockets lie in private folders. */
  readonly processesApart?: ProcessesApart;
  /** Opens ports of the host's firewall for the time of a run. */
  readonly portOpener?: PortOpener & RecoveredPorts;
}

/** How a process that outlives the daemon is started, and known again. */
export interface ProcessesApart {
  /**
   * Starts a program outside of the job of this process, without a window or an input.
   *
   * @throws WindowsError.
   */
  start(
    program: Readonly<{
      file: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
    }>,
  ): { readonly stdout: Readable; readonly kill: () => void };
  /** Checks that one process, as `ProcessHost.daemon` names it, serves a pipe, before anything is said to it. */
  serverCheck(process: string): PipeServerCheck;
}

/** Ports that outlive a daemon that dies. */
export interface RecoveredPorts {
  /**
   * Closes the ports of all runs but the living ones; resolves with the marks of those runs. It looks for them before it waits
   * for anything, so that a run that starts meanwhile is not among them.
   */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
}
