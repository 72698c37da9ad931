import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { dialError, TunnelError } from '../tunnel-error.js';

/** One literal address to connect to; never a name. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

/** Begins one TCP connection. It must allow half-open connections. */
export type Dial = (target: DialTarget) => Socket;

const HOSTS = ['127.0.0.1', '::1'] as const;
/** Buffer of a socket; if it were smaller than a message, every write would pause the writer. */
const SOCKET_BUFFER_BYTES = 128 * 1024;

/** Maximum size of a read; after a read of this size, the maximum of the next one is `BULK_READ_BYTES`. */
const READ_BYTES = 64 * 1024;
const BULK_READ_BYTES = 128 * 1024;
/** Shortest read that keeps its buffer; a shorter one is copied. */
const LEAST_KEPT_BYTES = BULK_READ_BYTES / 2;
/** Read buffer shared by all sockets with little data; each read is copied before the next one. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * The real dialler: TCP without delay, half-open allowed.
 *
 * Supplies its own read buffers, because by default Node allocates 64 KiB for each read, although most return a few bytes,
 * and reads no more than that at once. Each read emits one `data` event, as by default; `pause` stops the reads.
 */
export const dialTcp: Dial = ({ host, port }) => {
  let isBulk = false;
  const socket: Socket = connect({
    // A literal with every option: Node adds missing ones to a copy of it. Each addition would create a hidden class for
    // this socket alone, which costs V8 15 µs and memory in the old generation.
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    highWaterMark: SOCKET_BUFFER_BYTES,
    emitClose: false,
    autoDestroy: true,
    decodeStrings: false,
    onread: {
      buffer: () => (isBulk ? Buffer.allocUnsafeSlow(BULK_READ_BYTES) : sharedBuffer),
      callback: (size, buffer) => {
        const isKept = buffer !== sharedBuffer && size >= LEAST_KEPT_BYTES;
        isBulk = size >= READ_BYTES;
        const read = (buffer as Buffer).subarray(0, size);
        socket.emit('data', isKept ? read : Buffer.from(read));
        return true;
      },
    },
  } as NetConnectOpts);
  return socket;
};

/**
 * Connects to a port of this host's loopback: 127.0.0.1, then ::1, by literal address, within `timeoutMs` for both.
 * `done` is called once, later: with a connected socket, which the callee then owns, or with a {@link TunnelError}:
 * `dialRefused`, `dialTimeout`, `dialFailed` (the failure of 127.0.0.1, when both fail). The returned function gives up,
 * after which `done` is not called. A callback, not a promise with a signal, because every stream makes this call.
 */
export function dialLoopback(
  port: number,
  options: { readonly timeoutMs: number; readonly dial: Dial },
  done: (outcome: Socket | TunnelError) => void,
): () => void {
  const { dial, timeoutMs } = options;
  let current: Socket | undefined;
  let firstError: TunnelError | undefined;
  let settled = false;

  const settle = (): boolean => {
    if (settled) return false;
    settled = true;
    clearTimeout(timer);
    return true;
  };
  const giveUp = (): void => {
    if (settle()) current?.destroy();
  };
  const timer = setTimeout(() => {
    giveUp();
    const message = `cannot dial port ${port} of the loopback: no answer within ${timeoutMs} ms`;
    done(new TunnelError('dialTimeout', message, { port }));
  }, timeoutMs);

  const attempt = (index: number): void => {
    const host = HOSTS[index];
    if (host === undefined) {
      if (settle()) done(firstError ?? dialError(port, undefined));
      return;
    }
    const socket = dial({ host, port });
    const fail = (cause: Error): void => {
      // A second error of an abandoned socket must not end the process.
      socket.on('error', () => undefined);
      firstError ??= dialError(port, cause);
      if (!settled) attempt(index + 1);
    };
    current = socket;
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      if (settle()) done(socket);
    });
  };
  attempt(0);
  return giveUp;
}
