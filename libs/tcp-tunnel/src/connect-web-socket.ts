import {
  DEFAULT_PROXY_PIPE_NAME,
  messageOf,
  PipeNameError,
  quoteText,
  resolvePipePath,
  TUNNEL_CLIENT_HEADER,
} from '@wins/wins-program';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { WebSocket } from 'ws';
import { TunnelError } from './tunnel-error.js';
import { webSocketClientOptions } from './web-socket/web-socket-options.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const MOST_NAME_CHARACTERS = 100;

/** Where the daemon's tunnel is. */
export interface TunnelAddress {
  /**
   * The pipe of the daemon's tunnel: NAME, `npipe:////./pipe/NAME`, `\\.\pipe\NAME` or, not on Windows, the absolute path of a
   * Unix socket. Default: `rancher_wins_proxy`.
   */
  readonly address?: string;
  /**
   * Opens the connection, and judges who serves it before a byte is sent; `address` then only names it. Default: connects
   * to `address` and trusts any server.
   */
  readonly dial?: () => Promise<Socket>;
  /** What the daemon's audit log calls this client: printable ASCII, cut at 100 characters. Default: the name of this host. */
  readonly clientName?: string;
  /** Gives up. */
  readonly signal?: AbortSignal;
}

/**
 * Connects to a tunnel and shakes hands.
 *
 * @param opened - Called in the turn in which the WebSocket opened, which then is the callee's, with the connection below it.
 * @throws {TunnelError} `invalidOption`, `unreachable`, `aborted`.
 */
export async function connectWebSocket<T>(
  { address = DEFAULT_PROXY_PIPE_NAME, dial, clientName = hostname(), signal }: TunnelAddress,
  opened: (webSocket: WebSocket, connection: Socket) => T,
): Promise<T> {
  const connection = dial === undefined ? connect(pathOf(address)) : await dialled(address, dial);
  return new Promise((resolve, reject) => {
    const webSocket = new WebSocket('ws://wins/', {
      // A pipe of this host, which no intermediary sees.
      ...webSocketClientOptions({ localEndpoint: true }),
      createConnection: () => connection,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headers: { [TUNNEL_CLIENT_HEADER]: labelOf(clientName) },
    });
    const abort = (): void => webSocket.terminate();
    const fail = (cause: Error): void => {
      signal?.removeEventListener('abort', abort);
      // Another error of a WebSocket that is given up must not end the process.
      webSocket.on('error', () => undefined);
      connection.destroy();
      reject(signal?.aborted === true ? aborted(address, signal) : unreachable(address, cause));
    };
    webSocket.once('error', fail);
    webSocket.once('open', () => {
      signal?.removeEventListener('abort', abort);
      webSocket.off('error', fail);
      try {
        resolve(opened(webSocket, connection));
      } catch (error) {
        webSocket.on('error', () => undefined).terminate();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

async function dialled(address: string, dial: () => Promise<Socket>): Promise<Socket> {
  try {
    return await dial();
  } catch (error) {
    throw unreachable(address, error);
  }
}

function pathOf(address: string): string {
  try {
    return resolvePipePath(address).address;
  } catch (error) {
    if (!(error instanceof PipeNameError)) throw error;
    throw new TunnelError('invalidOption', error.message, { cause: error });
  }
}

function labelOf(clientName: string): string {
  return clientName.replace(/[^\x21-\x7e]/g, '?').slice(0, MOST_NAME_CHARACTERS) || 'unknown';
}

function unreachable(address: string, cause: unknown): TunnelError {
  const found = quoteText(messageOf(cause));
  const message = `cannot open a tunnel at ${quoteText(address)}: found ${found}; wanted the tunnel of a daemon`;
  return new TunnelError('unreachable', message, { cause });
}

function aborted(address: string, { reason: cause }: AbortSignal): TunnelError {
  const message = `cannot open a tunnel at ${quoteText(address)}: it was aborted`;
  return new TunnelError('aborted', message, { cause });
}
