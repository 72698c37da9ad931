import type { PipeServerCheck } from '@wins/pipe-transport';
import type { ProcessHost } from '@wins/process-manager';
import { posixProcessHost } from '../posix-process-host.js';
import type { Check, PipeAccess } from './doctor-probe.js';
import { unixSocketAccess } from './unix-socket-access.js';

/** What the doctor needs of one kind of system. */
export interface DoctorSystem {
  /** Judges files and finds orphans, as it does for the daemon. */
  readonly processHost: () => ProcessHost;
  /** Checks who serves a pipe before it is spoken to; absent where only the daemon could. */
  readonly security?: PipeServerCheck;
  /** Reads who may open the pipe at an address; `wanted` is what the config says of that, for Windows. */
  readonly pipeAccess: (address: string, wanted?: string) => Promise<PipeAccess>;
  /** What only this system has: services, firewall rules. */
  readonly checks: readonly Check[];
}

/** The system that this program runs on. */
export async function doctorSystem(platform: NodeJS.Platform): Promise<DoctorSystem> {
  if (platform !== 'win32') return POSIX;
  return (await import('./windows-doctor-system.js')).windowsDoctorSystem();
}

const POSIX: DoctorSystem = {
  processHost: posixProcessHost,
  pipeAccess: unixSocketAccess,
  checks: [],
};
