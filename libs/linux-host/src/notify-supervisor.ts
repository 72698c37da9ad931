import { loadCLibrary } from './c-library.js';
import { LinuxError } from './linux-error.js';
import { getSystemErrorMap } from 'node:util';

const [AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC, MSG_NOSIGNAL] = [1, 2, 0o2_000_000, 0x4000];
/** Maximum path length in `sockaddr_un`, without the closing 0. */
const MAX_PATH_BYTES = 107;

/**
 * Sends a message such as `READY=1`, like `sd_notify` of systemd. `address` is the value of `NOTIFY_SOCKET`. Uses the C
 * library, because Node has no Unix datagram sockets.
 *
 * @throws LinuxError `unavailable`; `unknown` when no process receives the message.
 */
export function notifySupervisor(address: string, message: string): void {
  const { socket, sendto, close, errno } = loadCLibrary();
  const bytes = Buffer.from(address);
  if (!/^[/@]./s.test(address) || bytes.length > MAX_PATH_BYTES)
    throw failed('NOTIFY_SOCKET is not a socket address');
  if (bytes[0] === 0x40) bytes[0] = 0;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  const to = Buffer.concat([family, bytes]);
  const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw failed(meaningOf(errno()));
  try {
    const bytes = Buffer.from(message);
    const sent = sendto(fd, bytes, bytes.length, MSG_NOSIGNAL, to, to.length);
    if (sent < 0) throw failed(meaningOf(errno()));
  } finally {
    close(fd);
  }
}

function meaningOf(errorNumber: number): string {
  return getSystemErrorMap().get(-errorNumber)?.[1] ?? `system error ${errorNumber}`;
}

function failed(found: string): LinuxError {
  return new LinuxError('unknown', `cannot notify the supervisor: ${found}`);
}
