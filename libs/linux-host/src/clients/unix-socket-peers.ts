import { closeSync, readFileSync } from 'node:fs';
import { loadCLibrary } from '../c-library.js';
import { LinuxError } from '../linux-error.js';

/** Peer of a Unix socket, with the effective ids that the kernel recorded at connect time. */
export interface UnixPeer {
  /** PID in the namespace of this process; 0 for a process outside it. The process may have ended since. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

interface UnixSocketPeers {
  /** @throws LinuxError `noPeer` unless the descriptor is a connected Unix socket. */
  peerOf(fd: number): UnixPeer;
  /**
   * Whether the connected process still has its PID. Call it after inspecting a process by PID, because the PID may have
   * been reused by then. Undefined before Linux 6.5. Never throws.
   */
  isThere(fd: number, peer: UnixPeer): boolean | undefined;
}

// unix(7), SO_PEERCRED: struct ucred { pid_t pid; uid_t uid; gid_t gid; }
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const UCRED_BYTES = 12;
/** Option that returns a pidfd, which always refers to the same process. */
const SO_PEERPIDFD = 77;
const ESRCH = 3;
/** User id that the kernel reports for a socket that was never connected. */
const NOBODY = 0xffff_ffff;

/** Uses socket constants that are valid on most architectures. @throws LinuxError as `loadCLibrary` does. */
export function unixSocketPeers(): UnixSocketPeers {
  const { getsockopt, errno } = loadCLibrary();
  return {
    peerOf: (fd) => {
      const ucred = Buffer.alloc(UCRED_BYTES);
      const length: [number] = [UCRED_BYTES];
      const isTold = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, length) === 0;
      const uid = ucred.readUInt32LE(4);
      if (!isTold || length[0] !== UCRED_BYTES || uid === NOBODY) {
        const found = isTold ? 'it was never connected' : 'it is not a socket';
        const message = `cannot find the peer of descriptor ${fd}: ${found}; wanted a connected Unix socket`;
        throw new LinuxError('noPeer', message);
      }
      return { pid: ucred.readInt32LE(0), uid, gid: ucred.readUInt32LE(8) };
    },
    isThere: (fd, { pid }) => {
      const answer = Buffer.alloc(4);
      if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, answer, [answer.length]) !== 0) {
        return errno() === ESRCH ? false : undefined;
      }
      const pidfd = answer.readInt32LE(0);
      try {
        // The PID is -1 once the process has ended and was reaped.
        const facts = readFileSync(`/proc/self/fdinfo/${pidfd}`, 'latin1');
        return /^Pid:\t(-?\d+)$/m.exec(facts)?.[1] === String(pid);
      } catch {
        return false;
      } finally {
        closeSync(pidfd);
      }
    },
  };
}
