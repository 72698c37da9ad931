import { loadCLibrary } from './c-library.js';
import { LinuxError } from './linux-error.js';

const [AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC, MSG_NOSIGNAL] = [1, 2, 0o2_000_000, 0x4000];
/** Maximum path length in `sockaddr_un`, without the closing 0. */
const MAX_PATH_BYTES = 107;

/**
 * Sends a message to the supervisor of this process, like `sd_notify` of systemd: `READY=1`. Uses the C library, because Node has no Unix
 * datagram sockets.
 *
 * @param address - Value of `NOTIFY_SOCKET`: a path, or `@` and an abstract socket name.
 * @throws LinuxError `unavailable`; `unknown` when no process receives the message.
 */
export function notifySupervisor(address: string, message: string): void {
  const { socket, sendto, close, errno } = loadCLibrary();
  const place = Buffer.from(address);
  if (!/^[/@]./s.test(address) || place.length > MAX_PATH_BYTES)
    throw new LinuxError(
      'unknown',
      'cannot notify the supervisor: NOTIFY_SOCKET is not a socket address',
    );
  if (place[0] === 0x40) place[0] = 0;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  const to = Buffer.concat([family, place]);
  const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw failed(errno());
  try {
    const bytes = Buffer.from(message);
    if (sendto(fd, bytes, bytes.length, MSG_NOSIGNAL, to, to.length) < 0) throw failed(errno());
  } finally {
    close(fd);
  }
}

function failed(errno: number): LinuxError {
  return new LinuxError('unknown', `cannot notify the supervisor: errno ${errno}`);
}
