import { duplexPair } from 'node:stream';
import { startEcho } from '../echo-server.mjs';
import { sendInPieces } from '../send-in-pieces.mjs';
import { generateTunnel, tunnelOctetsOf } from '../tunnel-frames.mjs';

const HANDSHAKE = {
  method: 'GET',
  headers: {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  },
};

/** Checks that a session never throws, connects only to the allowed port, and has no stream when it ends. */
export async function openTunnelTarget({ serveTunnel, webSocketServerOptions, WebSocketServer }) {
  const echo = await startEcho();
  const options = { noServer: true, clientTracking: false, ...webSocketServerOptions() };
  const webSockets = new WebSocketServer(options);
  return {
    name: 'tunnel',
    generate: generateTunnel,
    async run(given) {
      const [client, socket] = duplexPair();
      let allowed = 0;
      const serve = (webSocket) =>
        serveTunnel(webSocket, {
          allowedPorts: [echo.port],
          times: { lingerMs: 1, closeTimeoutMs: 1 },
          onConnect: (record) => {
            if (!record.allowed) return true;
            allowed += 1;
            if (record.port !== echo.port) throw new Error(`port ${record.port} was allowed`);
            return true;
          },
        });
      const opened = new Promise((resolve) => {
        webSockets.handleUpgrade(HANDSHAKE, socket, Buffer.alloc(0), (one) => resolve(serve(one)));
      });
      const sending = sendInPieces(client, tunnelOctetsOf(given, echo.port), given, socket);
      const session = await opened;
      await session.closed;
      client.destroy();
      await sending;
      await session.close();
      if (session.streamCount > 0)
        throw new Error(`${session.streamCount} of ${allowed} streams outlived the session`);
    },
    close: () => echo.close(),
  };
}
