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
/** With less than one message of data every write would stop the writer. */
const SOCKET_BUFFER_BYTES = 128 * 1024;

/** Limit of a read, and limit of the next read from a program that has filled this one. */
const READ_BYTES = 64 * 1024;
const BULK_READ_BYTES = 128 * 1024;
/** Shortest read that keeps its buffer; a shorter one is copied. */
const LEAST_KEPT_BYTES = BULK_READ_BYTES / 2;
/** Into it all sockets read that have little to read: each read is copied before the next. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * The real dialler: TCP without delay, half-open allowed.
 *
 * Node would make 64 KiB for each read, of which most hold a few bytes, and of a flood could read no
 * more. A `data` event is what a read was, as Node's own is; `pause` stops the reads.
 */
export const dialTcp: Dial = ({ host, port }) => {
  let isBulk = false;
  const socket: Socket = connect({
    // A literal, and whole: to a copy of it Node adds what is absent, and each addition would make a
    // hidden class for this socket alone, which takes V8 15 µs and memory of the old generation.
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
 * `dialRefused`, `dialTimeout`, `dialFailed` (what 127.0.0.1 said, when both fail). The returned function gives up,
 * after which `done` is not called. One runs for every stream, so it is a callback and not a promise with a signal.
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
      // A second error of a socket that is given up must not end the process.
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
