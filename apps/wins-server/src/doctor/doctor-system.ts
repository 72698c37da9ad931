import { createNodeProcessHost, type ProcessHost } from '@wins/process-manager';
import type { Check, PipeAccess } from './doctor-probe.js';
import { unixSocketAccess } from './unix-socket-access.js';

/** What the doctor needs of one kind of system. */
export interface DoctorSystem {
  /** Judges files and finds orphans, as it does for the daemon. */
  readonly processHost: () => ProcessHost;
  /** Reads who may open the pipe at an address. */
  readonly pipeAccess: (address: string) => Promise<PipeAccess>;
  /** What only this system has: services, firewall rules. */
  readonly checks: readonly Check[];
}

/** The system that this program runs on. */
export function doctorSystem(platform: NodeJS.Platform): DoctorSystem {
  return platform === 'win32' ? windowsDoctorSystem() : POSIX;
}

const POSIX: DoctorSystem = {
  processHost: createNodeProcessHost,
  pipeAccess: unixSocketAccess,
  checks: [],
};

/** The seam for the library that knows Windows: until then each such question is one that cannot be asked. */
function windowsDoctorSystem(): DoctorSystem {
  return {
    processHost: createNodeProcessHost,
    pipeAccess: () => Promise.reject(new Error('the access list of a pipe cannot be read here')),
    checks: [],
  };
}
