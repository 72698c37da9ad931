import { webSocketClientOptions } from '@wins/tcp-tunnel';
import { TUNNEL_CLIENT_HEADER } from '@wins/wins-program';
import { clientLabel } from '../daemon/client-label.js';
import { WebSocket } from 'ws';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Where the tunnel pipe is. */
export interface TunnelPipe {
  /** Name or path of the pipe. */
  readonly pipe: string;
  readonly signal: AbortSignal;
}

/**
 * Connects to the tunnel pipe and shakes hands.
 *
 * @param opened - Called in the turn in which the WebSocket opened, which then is the callee's.
 * @throws PipeError when there is no way to the pipe; Error when the other side does not shake hands;
 * the reason of the signal.
 */
export async function openWebSocket<T>(
  { pipe, signal }: TunnelPipe,
  opened: (webSocket: WebSocket) => T,
): Promise<T> {
  const connection = await connectTrustedPipe(pipe, { signal });
  const webSocket = new WebSocket('ws://wins/', {
    // The connection is a pipe of this host, which no intermediary sees.
    ...webSocketClientOptions({ localEndpoint: true }),
    createConnection: () => connection,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    headers: { [TUNNEL_CLIENT_HEADER]: clientLabel() },
  });
  return new Promise((resolve, reject) => {
    const abort = (): void => webSocket.terminate();
    const settle = (): void => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    webSocket.once('open', () => {
      settle();
      webSocket.off('error', fail);
      resolve(opened(webSocket));
    });
    const fail = (error: Error): void => {
      settle();
      // Another error of a WebSocket that is given up must not end the process.
      webSocket.on('error', () => undefined);
      connection.destroy();
      const message = `no tunnel on pipe "${pipe}": ${error.message}`;
      reject(signal.aborted ? (signal.reason as Error) : new Error(message, { cause: error }));
    };
    webSocket.once('error', fail);
  });
}
