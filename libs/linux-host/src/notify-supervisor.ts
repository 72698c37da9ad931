import { loadCLibrary } from './c-library.js';
import { LinuxError } from './linux-error.js';

const [AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC, MSG_NOSIGNAL] = [1, 2, 0o2_000_000, 0x4000];
/** The room for a path in `sockaddr_un`, with a 0 at its end. */
const MAX_PATH_BYTES = 107;

/**
 * Tells the supervisor that started this process something, as `sd_notify` of systemd does: `READY=1`. Node has no datagrams of Unix sockets.
 *
 * @param address - The variable `NOTIFY_SOCKET`: a path, or `@` and a name of the abstract namespace.
 * @throws LinuxError `unavailable`; `unknown` when nobody takes it.
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
