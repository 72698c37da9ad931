import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Transform, type Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { type ClientTunnel, type OpenTunnelOptions, openTunnel } from '../client-tunnel.js';
import { serveTunnel, type ServerTunnel, type ServeTunnelOptions } from '../serve-tunnel.js';
import {
  webSocketClientOptions,
  webSocketServerOptions,
} from '../web-socket/web-socket-options.js';

/** A WebSocket server on its own Unix socket; `close` destroys all connections. */
export interface TransportServer {
  readonly path: string;
  dial(): Promise<WebSocket>;
  close(): Promise<void>;
}

export async function startTransportServer(
  accept: (socket: WebSocket, request: IncomingMessage, connection: Duplex) => void,
): Promise<TransportServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tunnel-'));
  const socketPath = path.join(directory, 'transport.sock');
  const http = createServer();
  const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
  const open = new Set<Duplex>();
  http.on('upgrade', (request, socket, head) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      accept(webSocket, request, socket),
    );
  });
  http.listen(socketPath);
  await once(http, 'listening');
  return {
    path: socketPath,
    dial: () => dialWebSocket(() => connect(socketPath)),
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}

export async function dialWebSocket(createConnection: () => Duplex): Promise<WebSocket> {
  const socket = new WebSocket('ws://tunnel/', {
    ...webSocketClientOptions({ localEndpoint: true }),
    createConnection: createConnection as () => Socket,
  });
  await once(socket, 'open');
  return socket;
}

/** Both roles, joined by a real WebSocket on a local connection. */
export interface TunnelPair {
  readonly client: ClientTunnel;
  readonly server: ServerTunnel;
  close(): Promise<void>;
}

export async function openPair(
  serve: ServeTunnelOptions,
  open: OpenTunnelOptions = {},
): Promise<TunnelPair> {
  let accepted: (server: ServerTunnel) => void = () => undefined;
  const served = new Promise<ServerTunnel>((resolve) => (accepted = resolve));
  const transport = await startTransportServer((socket, _request, localConnection) =>
    accepted(serveTunnel(socket, { localConnection, ...serve })),
  );
  const localConnection = connect(transport.path);
  const client = openTunnel(await dialWebSocket(() => localConnection), {
    localConnection,
    ...open,
  });
  const server = await served;
  return {
    client,
    server,
    close: async () => {
      await Promise.all([client.close(), server.close()]);
      await transport.close();
    },
  };
}

export function cutInto(bytes: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += bytes) this.push(chunk.subarray(at, at + bytes));
      done();
    },
  });
}
