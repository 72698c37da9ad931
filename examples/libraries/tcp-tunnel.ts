import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openTunnel, serveTunnel, webSocketServerOptions } from '@wins/tcp-tunnel';
import { WebSocketServer } from 'ws';

// A program on the host, and beside it the end that may dial it.
const program = createServer((request, response) => response.end(`hello ${request.url}`));
await once(program.listen(0, '127.0.0.1'), 'listening');
const { port: hostPort } = program.address() as AddressInfo;

const address = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'tunnel');
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

// The end that publishes the port.
const tunnel = await openTunnel({ address, publish: [{ hostPort, port: 0 }] });
const response = await fetch(`http://127.0.0.1:${tunnel.ports[0]?.port}/there`, {
  headers: { connection: 'close' },
});
console.log(await response.text());

await tunnel.close();
transport.close();
program.close();
