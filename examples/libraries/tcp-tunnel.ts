import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { openTunnel, serveTunnel, webSocketServerOptions } from '@wins/tcp-tunnel';
import { WebSocketServer } from 'ws';

// A program on the host; the server half of the tunnel may connect to it.
const program = createServer((request, response) => response.end(`hello ${request.url}`));
await once(program.listen(0, '127.0.0.1'), 'listening');
const { port: hostPort } = program.address() as AddressInfo;

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
// Real programs use listenPipe of @wins/pipe-transport, which restricts who can open the pipe.
const address =
  process.platform === 'win32'
    ? `\\\\.\\pipe\\example-${process.pid}`
    : path.join(folder, 'tunnel');
const transport = createServer();
const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
transport.on('upgrade', (request, socket, head) =>
  webSockets.handleUpgrade(request, socket, head, (webSocket) =>
    serveTunnel(webSocket, {
      allowedPorts: [hostPort],
      onConnect: ({ allowed, rule }) => console.log(allowed, rule),
    }),
  ),
);
await once(transport.listen(address), 'listening');

// The client half publishes the port.
const tunnel = await openTunnel({ address, publish: [{ hostPort, port: 0 }] });
const [port] = tunnel.ports;
const request = get({ host: '127.0.0.1', port: port?.port, path: '/there', agent: false });
const [response] = (await once(request, 'response')) as [IncomingMessage];
console.log(await text(response));

await tunnel.close();
transport.close();
program.close();
