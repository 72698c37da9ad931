/**
 * Linux for wins: processes in sessions of their own, the host's adapters and routes, who is at the other end of a Unix socket, whether a container lies
 * between, and free memory that goes back to the system. What it offers fits the ports of the other libraries by structure; it
 * imports none of them.
 *
 * Importing it loads nothing and works everywhere; a call on a system that cannot do it fails with a {@link LinuxError} of code
 * `unavailable`. `posixProcessHost` also runs on macOS, for development, where it guarantees less.
 *
 * @packageDocumentation
 */
export {
  unixSocketPeers,
  type UnixPeer,
  type UnixSocketPeers,
} from './clients/unix-socket-peers.js';
export { processOrigin, type ProcessOrigin } from './clients/process-origin.js';
export { freeMemoryTrimmer } from './free-memory.js';
export { LinuxError, type LinuxErrorCode } from './linux-error.js';
export {
  linuxHostSystem,
  type LinuxHostSystem,
  type NetworkAdapter,
  type RouteEntry,
} from './network/linux-host-system.js';
export type { HostVersion } from './network/linux-version.js';
export type { NetworkSelector, FoundAdapter } from './network/linux-adapters.js';
export type { LinuxRoute } from './network/linux-routing-table.js';
export {
  posixProcessHost,
  type PosixProcessHostOptions,
  type PosixProcessHost,
  type PosixCommand,
} from './processes/posix-process-host.js';
export type { PosixExit, PosixProcess, PosixUsage } from './processes/posix-process.js';
export type { LeftoverSearch, FoundLeftover } from './processes/find-leftovers.js';
