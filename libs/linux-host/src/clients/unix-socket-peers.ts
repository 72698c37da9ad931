import { closeSync, readFileSync } from 'node:fs';
import { loadCLibrary } from '../c-library.js';
import { LinuxError } from '../linux-error.js';

/** Peer of a Unix socket, as the kernel recorded it when it connected. */
export interface UnixPeer {
  /** The process, as seen from here: 0 for one that cannot be seen from here. It may have ended since. */
  readonly pid: number;
  /** Its effective user. */
  readonly uid: number;
  /** Its effective group. */
  readonly gid: number;
}

/** Tells who is at the other end of accepted Unix sockets. */
export interface UnixSocketPeers {
  /**
   * Returns the peer of the socket with this descriptor.
   *
   * @throws LinuxError `noPeer` when it is no connected Unix socket.
   */
  peerOf(fd: number): UnixPeer;
  /**
   * Whether the process that connected is still the one that has its number: ask after it was looked at by that number, which
   * another process may have by then. Undefined where the kernel cannot say (before Linux 6.5). Never throws.
   */
  isThere(fd: number, peer: UnixPeer): boolean | undefined;
}

// unix(7), SO_PEERCRED: struct ucred { pid_t pid; uid_t uid; gid_t gid; }
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const UCRED_BYTES = 12;
/** A descriptor of the process itself, which no later process inherits. */
const SO_PEERPIDFD = 77;
const ESRCH = 3;
/** The user id that the kernel gives for a socket that was never connected. */
const NOBODY = 0xffff_ffff;

/**
 * Prepares to ask who connects. The numbers are those of x86, ARM, RISC-V and most others.
 *
 * @throws LinuxError `unavailable` elsewhere than on Linux, and where the addon for calls of the system cannot be loaded.
 */
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
        // Pid: -1 once it has ended and no one waits for it any more.
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
