/**
 * Implements the ports of `@wins/base` for Linux. Importing this package loads no addon; a call on an unsupported system
 * fails with a {@link LinuxError} of code `unavailable`. `posixProcessHost` also runs on macOS, for development, with
 * fewer guarantees.
 *
 * @packageDocumentation
 */
export { canTellLinuxClients, linuxClients } from './clients/linux-clients.js';
export { freeMemoryTrimmer } from './c-library.js';
export { LinuxError, type LinuxErrorCode } from './linux-error.js';
export { linuxHostRoutes } from './network/linux-host-routes.js';
export { linuxHostSystem } from './network/linux-host-system.js';
export { keepDescriptors } from './processes/keep-descriptors.js';
export { notifySupervisor } from './notify-supervisor.js';
export { readerProbe } from './reader-probe.js';
export {
  posixProcessHost,
  type PosixProcessHost,
  type PosixProcessHostOptions,
} from './processes/posix-process-host.js';
