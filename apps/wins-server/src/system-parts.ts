import type { Logger } from './log/logger.js';
import type { PipeSecurity } from '@wins/pipe-transport';
import type { IdentifyClient } from './admission/client-identity.js';
import type { PortOpener, ProcessHost } from '@wins/process-manager';

/** Ports that outlive a daemon that dies. */
export interface RecoveredPorts {
  /**
   * Closes the ports of all runs but the living ones; resolves with the marks of those runs. It looks for them before it waits
   * for anything, so that a run that starts meanwhile is not among them.
   */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
}

/** What the operating system gives to the daemon. What is absent does not exist here, or the library has a default for it. */
export interface SystemParts {
  /** Opens pipes that only those may use who shall. */
  readonly pipeSecurity?: PipeSecurity;
  /** Tells who connects. Absent: clients cannot be told apart. */
  readonly identify?: IdentifyClient;
  /** Gives memory back that is free in this process but kept. Absent: nothing is, or it cannot. */
  readonly trimMemory?: () => void;
  /** Runs processes in trees of their own. */
  readonly processHost: ProcessHost;
  /** Opens ports of the host's firewall for the time of a run. */
  readonly portOpener?: PortOpener & RecoveredPorts;
}

/**
 * The parts of this system.
 *
 * @param logger - Told what this system does not give.
 * @param pipeAccess - Who may open the pipes on Windows, as SDDL. Default: administrators and SYSTEM.
 * @throws WindowsError `invalid-argument` when that is not understood.
 */
export async function systemParts(logger: Logger, pipeAccess?: string): Promise<SystemParts> {
  if (process.platform !== 'win32') return (await import('./posix-parts.js')).posixParts(logger);
  return (await import('./windows-parts.js')).windowsParts(pipeAccess);
}
