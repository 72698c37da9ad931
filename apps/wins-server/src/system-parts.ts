import type { PipeSecurity } from '@wins/pipe-transport';
import { ProcessError, type PortOpener, type ProcessHost } from '@wins/process-manager';
import type { RecoveredPorts } from './daemon.js';

/** What the operating system gives to the daemon. What is absent is a default of the libraries, or does not exist. */
export interface SystemParts {
  /** Opens pipes that only those may use who shall. */
  readonly pipeSecurity?: PipeSecurity;
  /** Runs processes in trees of their own. */
  readonly processHost?: ProcessHost;
  /** Opens ports of the host's firewall for the time of a run. */
  readonly portOpener?: PortOpener & RecoveredPorts;
}

/**
 * The parts of this system.
 *
 * @param pipeAccess - Who may open the pipes on Windows, as SDDL. Default: administrators and SYSTEM.
 * @throws WindowsError `invalid-argument` when that is not understood.
 */
export async function systemParts(pipeAccess?: string): Promise<SystemParts> {
  if (process.platform !== 'win32') return {};
  const { firewallRules, securedPipe } = await import('@wins/windows-host');
  return {
    pipeSecurity: securedPipe({ sddl: pipeAccess }),
    processHost: await windowsProcessHost(),
    portOpener: firewallRules(),
  };
}

/** A host of job objects that fails in the words of the process manager. */
export async function windowsProcessHost(): Promise<ProcessHost> {
  const { jobObjectProcessHost } = await import('@wins/windows-host');
  return jobObjectProcessHost({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
}
