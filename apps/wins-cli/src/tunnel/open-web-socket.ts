import { webSocketClientOptions } from '@wins/tcp-tunnel';
import { networkIdentity, TUNNEL_CLIENT_HEADER, TUNNEL_NETWORK_HEADER } from '@wins/wins-program';
import { clientLabel } from '../daemon/client-label.js';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { handshakeFailure, handshakeTimeout } from './handshake-failure.js';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';

/** Where the tunnel pipe is. */
export interface TunnelPipe {
  /** Name or path of the pipe. */
  readonly pipe: string;
  /** How long the connection may take, and how long the handshake on it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Connects to the tunnel pipe and shakes hands.
 *
 * @param opened - Called in the turn in which the WebSocket opened, which then is the callee's, with the connection below it, and told
 * whether the daemon has the network of this process. What it throws gives the WebSocket up.
 * @throws PipeError when there is no way to the pipe; Error when the other side does not shake hands;
 * the reason of the signal.
 */
export async function openWebSocket<T>(
  { pipe, timeoutMs, signal }: TunnelPipe,
  opened: (webSocket: WebSocket, connection: Socket, hasOwnNetwork: boolean) => T,
): Promise<T> {
  const connection = await connectTrustedPipe(pipe, { timeoutMs, signal });
  const network = networkIdentity();
  const webSocket = new WebSocket('ws://wins/', {
    // The connection is a pipe of this host, which no intermediary sees.
    ...webSocketClientOptions({ localEndpoint: true }),
    createConnection: () => connection,
    headers: {
      [TUNNEL_CLIENT_HEADER]: clientLabel(),
      ...(network !== undefined && { [TUNNEL_NETWORK_HEADER]: network }),
    },
  });
  return new Promise((resolve, reject) => {
    const abort = (): void => webSocket.terminate();
    const settle = (): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    let hasOwnNetwork = false;
    webSocket.once('upgrade', ({ headers }) => {
      hasOwnNetwork = headers[TUNNEL_NETWORK_HEADER] === 'same';
    });
    webSocket.once('open', () => {
      settle();
      webSocket.off('error', failed);
      try {
        resolve(opened(webSocket, connection, hasOwnNetwork));
      } catch (error) {
        fail(error as Error);
      }
    });
    const fail = (error: Error): void => {
      settle();
      // Another error of a WebSocket that is given up must not end the process.
      webSocket.on('error', () => undefined);
      connection.destroy();
      reject(signal.aborted ? (signal.reason as Error) : error);
    };
    const late = setTimeout(() => {
      fail(handshakeTimeout(pipe, timeoutMs));
      webSocket.terminate();
    }, timeoutMs);
    const failed = (error: Error): void => fail(handshakeFailure(pipe, error));
    webSocket.once('error', failed);
  });
}
