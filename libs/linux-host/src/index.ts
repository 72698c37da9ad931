/**
 * Linux for wins: who is at the other end of a Unix socket, whether a container lies between, and what becomes of freed memory.
 *
 * Importing it loads nothing and works everywhere; `unixSocketPeers` and `freeMemoryTrimmer` fail with a {@link LinuxError} of code `unavailable`
 * where the system cannot be asked.
 *
 * @packageDocumentation
 */
export { unixSocketPeers, type UnixPeer, type UnixSocketPeers } from './unix-socket-peers.js';
export { freeMemoryTrimmer } from './free-memory.js';
export { processOrigin, type ProcessOrigin } from './process-origin.js';
export { LinuxError, type LinuxErrorCode } from './linux-error.js';
