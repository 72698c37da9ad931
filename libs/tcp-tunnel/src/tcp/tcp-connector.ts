import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { dialError, TunnelError } from '../tunnel-error.js';

/** `host` is an IP address, never a name. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
  /** True: the socket is read like any other stream, so that its owner decides when. Default: it emits its data at once. */
  readonly isReadInTurns?: boolean | undefined;
}

/** Begins a TCP connection with `allowHalfOpen`. */
export type Dial = (target: DialTarget) => Socket;

const HOSTS = ['127.0.0.1', '::1'] as const;
/** With a buffer smaller than a message, every write would pause the writer. */
const SOCKET_BUFFER_BYTES = 128 * 1024;

/** Maximum size of a read, unless the previous read was at least this large; then the maximum is `BULK_READ_BYTES`. */
const READ_BYTES = 64 * 1024;
const BULK_READ_BYTES = 128 * 1024;
/** Shortest read that keeps its buffer; a shorter one is copied. */
const LEAST_KEPT_BYTES = BULK_READ_BYTES / 2;
/** Read buffer shared by all sockets with little data; each read is copied before the next one. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Dials TCP with `noDelay` and `allowHalfOpen`.
 *
 * Unless the socket is read in turns, supplies its own read buffers. Node's default buffers cost 64 KiB for each read, however small, and limit a read to
 * 64 KiB.
 */
export const dialTcp: Dial = ({ host, port, isReadInTurns = false }) => {
  const usual = { allowHalfOpen: true, noDelay: true, highWaterMark: SOCKET_BUFFER_BYTES };
  if (isReadInTurns) return connect({ host, port, ...usual } as NetConnectOpts);
  let isBulk = false;
  const socket: Socket = connect({
    // Name every option. Node adds missing ones to a copy, and each addition would create a hidden class for this
    // socket alone, which costs V8 15 µs and memory in the old generation.
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
 * Connects to a port of this host's loopback, first at 127.0.0.1, then at ::1, within `timeoutMs` in total. Calls
 * `done` once, asynchronously: with the connected socket, which `done` then owns, or with a {@link TunnelError}:
 * `dialRefused`, `dialTimeout` or `dialFailed`. When both addresses fail, reports the failure of 127.0.0.1. The
 * returned function cancels the dial; `done` is then not called. A callback is cheaper than a promise with a signal,
 * and every stream makes this call.
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
