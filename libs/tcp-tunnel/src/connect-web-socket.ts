import {
  type ConnectDaemon,
  DEFAULT_PROXY_PIPE_NAME,
  escapeText,
  messageOf,
  TextError,
  quoteText,
  resolvePipePath,
  TUNNEL_CLIENT_HEADER,
  TUNNEL_NETWORK_HEADER,
} from '@wins/base';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { WebSocket } from 'ws';
import { TunnelError } from './tunnel-error.js';
import { type TunnelWebSocket, webSocketClientOptions } from './web-socket/web-socket-options.js';

const MOST_NAME_CHARACTERS = 100;

/** Says how to reach the daemon, and how this client identifies itself. */
export interface TunnelAddress {
  /**
   * The pipe of the daemon's tunnel: NAME, `npipe:////./pipe/NAME`, `\\.\pipe\NAME` or, on systems other than Windows, the absolute
   * path of a Unix socket. Default: `rancher_wins_proxy`.
   */
  readonly address?: string | undefined;
  /** Opens the connection. With `dial`, `address` is used in messages only. Default: connects to `address` and trusts any server. */
  readonly dial?: ConnectDaemon | undefined;
  /** Name of this client in the daemon's audit log: printable ASCII, cut at 100 characters. Default: the name of this host. */
  readonly clientName?: string | undefined;
  /** Path and query of the handshake. Default `/`. */
  readonly path?: string | undefined;
  /** Headers of the handshake, such as `authorization`; at most 64 in 8 KiB for a server of this library. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Identity of this process's network, which the daemon compares with its own. Default: not sent. */
  readonly network?: string | undefined;
  /** Time-out of `dial`, and again of the handshake, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface DialLimits {
  readonly address: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Called synchronously when the WebSocket opens. The callee owns the WebSocket, which is destroyed if the callee
 * throws.
 */
export type OnTunnelSocket<T> = (
  webSocket: TunnelWebSocket,
  connection: Socket,
  isSameNetwork: boolean,
) => T;

/**
 * Connects to a tunnel.
 *
 * @throws {TunnelError} `invalidOption`; `unreachable`, whose `cause` says why (a `TimeoutError` after `timeoutMs`);
 * `aborted`; anything that `opened` throws.
 */
export async function connectWebSocket<T>(
  {
    address = DEFAULT_PROXY_PIPE_NAME,
    dial,
    clientName = hostname(),
    path = '/',
    headers,
    network,
    timeoutMs = 10_000,
    signal,
  }: TunnelAddress,
  opened: OnTunnelSocket<T>,
): Promise<T> {
  checkRequest(path, headers);
  const limits = { address, timeoutMs, signal };
  const connection = dial === undefined ? connect(pathOf(address)) : await dialled(dial, limits);
  return new Promise((resolve, reject) => {
    const webSocket = new WebSocket(`ws://wins${path}`, {
      // The frames need no random mask, because they stay on this host.
      ...webSocketClientOptions({ localEndpoint: true }),
      createConnection: () => connection,
      headers: {
        ...headers,
        [TUNNEL_CLIENT_HEADER]: labelOf(clientName),
        ...(network !== undefined && { [TUNNEL_NETWORK_HEADER]: network }),
      },
    });
    const abort = (): void => webSocket.terminate();
    const settle = (): void => {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
    };
    const fail = (cause: Error): void => {
      settle();
      // A later error of an abandoned WebSocket must not end the process.
      webSocket.on('error', () => undefined);
      connection.destroy();
      reject(
        signal?.aborted === true ? aborted(address, signal.reason) : unreachable(address, cause),
      );
    };
    webSocket.once('error', fail);
    // The time-out of ws restarts at each byte, so use our own.
    const late = setTimeout(() => {
      fail(new DOMException(`no handshake within ${timeoutMs} ms`, 'TimeoutError'));
      webSocket.terminate();
    }, timeoutMs);
    let isSameNetwork = false;
    webSocket.once('upgrade', ({ headers }) => {
      isSameNetwork = headers[TUNNEL_NETWORK_HEADER] === 'same';
    });
    webSocket.once('open', () => {
      settle();
      webSocket.off('error', fail);
      try {
        resolve(opened(webSocket, connection, isSameNetwork));
      } catch (error) {
        webSocket.on('error', () => undefined).terminate();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

function checkRequest(path: string, headers: Readonly<Record<string, string>> = {}): void {
  if (!/^\/[^\s#]*$/.test(path)) {
    const wanted = 'wanted one that begins with "/", without spaces and "#"';
    throw new TunnelError('invalidOption', `${quoteText(path)} is not a path; ${wanted}`);
  }
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch (error) {
    // The value may be a secret, and Node does not quote it.
    const message = `cannot send these headers: ${escapeText(messageOf(error))}`;
    throw new TunnelError('invalidOption', message, { cause: error });
  }
}

/** Ends also if `dial` ignores its signal; a connection that it opens later is destroyed. */
async function dialled(
  dial: ConnectDaemon,
  { address, timeoutMs, signal }: DialLimits,
): Promise<Socket> {
  const isAborted = (): boolean => signal?.aborted === true;
  if (isAborted()) throw aborted(address, signal?.reason);
  const over = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason as Error));
  });
  const abort = (): void => over.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const late = setTimeout(() => {
    over.abort(new DOMException(`no connection within ${timeoutMs} ms`, 'TimeoutError'));
  }, timeoutMs);
  const dialling = (async () => dial(over.signal))();
  try {
    return await Promise.race([dialling, ended]);
  } catch (error) {
    dialling.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    throw isAborted() ? aborted(address, signal?.reason) : unreachable(address, error);
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
  }
}

function pathOf(address: string): string {
  try {
    return resolvePipePath(address).address;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TunnelError('invalidOption', error.message, { cause: error });
  }
}

function labelOf(clientName: string): string {
  return clientName.replace(/[^\x21-\x7e]/g, '?').slice(0, MOST_NAME_CHARACTERS) || 'unknown';
}

function unreachable(address: string, cause: unknown): TunnelError {
  const found = escapeText(messageOf(cause));
  const message = `cannot open a tunnel at ${quoteText(address)}: ${found}`;
  return new TunnelError('unreachable', message, { cause });
}

function aborted(address: string, cause: unknown): TunnelError {
  const message = `cannot open a tunnel at ${quoteText(address)}: it was aborted`;
  return new TunnelError('aborted', message, { cause });
}
