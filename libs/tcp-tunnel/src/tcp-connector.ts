import { connect, type Socket } from 'node:net';
import { dialError } from './node-errors.js';
import { TunnelError } from './tunnel-error.js';

/** One literal address to connect to; never a name. */
export interface DialTarget {
  readonly host: '127.0.0.1' | '::1';
  readonly port: number;
}

/** Begins one TCP connection. It must allow half-open connections. */
export type Dial = (target: DialTarget) => Socket;

const HOSTS = ['127.0.0.1', '::1'] as const;
/** One message of data less would stop the writer after every write. */
const SOCKET_BUFFER_BYTES = 128 * 1024;

/** The real dialler: TCP without delay, half-open allowed. */
export const dialTcp: Dial = ({ host, port }) => {
  const options = { host, port, allowHalfOpen: true, noDelay: true };
  return connect({ ...options, highWaterMark: SOCKET_BUFFER_BYTES } as typeof options);
};

/**
 * Connects to a port of this host's loopback: 127.0.0.1, then ::1, by literal address, within `timeoutMs` for both. The
 * caller owns the socket; it is paused, and nothing of it is lost.
 *
 * @throws {TunnelError} `dial-refused`, `dial-timeout`, `dial-failed` (the failure of 127.0.0.1 when both fail), or
 * `aborted` when the signal fires.
 */
export function dialLoopback(
  port: number,
  options: { readonly timeoutMs: number; readonly dial?: Dial; readonly signal?: AbortSignal },
): Promise<Socket> {
  const { dial = dialTcp, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    let current: Socket | undefined;
    let firstError: TunnelError | undefined;
    let settled = false;
    const settle = (outcome: Socket | TunnelError): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      if (!(outcome instanceof TunnelError)) {
        resolve(outcome);
        return;
      }
      current?.destroy();
      reject(outcome);
    };
    const timer = setTimeout(() => {
      const message = `dialled the loopback on port ${port}: no answer within ${timeoutMs} ms`;
      settle(new TunnelError('dial-timeout', message, { port }));
    }, timeoutMs);
    const abort = (): void =>
      settle(new TunnelError('aborted', `dialling port ${port} was aborted`, { port }));
    const attempt = (index: number): void => {
      const host = HOSTS[index];
      if (host === undefined) {
        settle(firstError ?? dialError(port, undefined));
        return;
      }
      const socket = dial({ host, port });
      const fail = (cause: Error): void => {
        socket.removeListener('connect', succeed);
        // A second error of a socket that is given up must not end the process.
        socket.on('error', () => undefined);
        firstError ??= dialError(port, cause);
        if (!settled) attempt(index + 1);
      };
      const succeed = (): void => {
        socket.removeListener('error', fail);
        settle(socket);
      };
      current = socket;
      socket.once('error', fail);
      socket.once('connect', succeed);
    };
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    else attempt(0);
  });
}
