/**
 * Linux for wins: processes in sessions of their own, the host's adapters and routes, who is at the other end of a Unix socket, whether a container lies
 * between, and free memory that goes back to the system. It implements the ports of `@wins/base`.
 *
 * Importing it loads nothing and works everywhere; a call on a system that cannot do it fails with a {@link LinuxError} of code
 * `unavailable`. `posixProcessHost` also runs on macOS, for development, where it guarantees less.
 *
 * @packageDocumentation
 */
export { canTellLinuxClients, linuxClients } from './clients/linux-clients.js';
export { freeMemoryTrimmer } from './c-library.js';
export { LinuxError, type LinuxErrorCode } from './linux-error.js';
export { linuxHostRoutes } from './network/linux-host-routes.js';
export { linuxHostSystem } from './network/linux-host-system.js';
export { notifySupervisor } from './notify-supervisor.js';
export {
  posixProcessHost,
  type PosixProcessHost,
  type PosixProcessHostOptions,
} from './processes/posix-process-host.js';
