import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer as createHttpServer, get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { openTunnel, serveTunnel, TunnelHandshakes } from '@wins/tcp-tunnel';

// A program on the host; the server half of the tunnel may connect to it.
const program = createHttpServer((request, response) => response.end(`hello ${request.url}`));
await once(program.listen(0, '127.0.0.1'), 'listening');
const { port: hostPort } = program.address() as AddressInfo;

// The server half. Real programs use listenPipe of @wins/pipe-transport, which restricts who can open the pipe.
const handshakes = new TunnelHandshakes<string>({
  authorize: ({ headers }) => headers.authorization === 'Bearer of this example',
  opened: (webSocket, localConnection, guest) =>
    serveTunnel(webSocket, {
      localConnection,
      allowedPorts: [hostPort],
      onConnect: ({ allowed, rule }) => console.log(guest, allowed, rule),
    }),
});
const address =
  process.platform === 'win32'
    ? `\\\\.\\pipe\\example-${process.pid}`
    : path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'tunnel');
const server = createServer((socket) => handshakes.begin(socket, 'the first guest'));
await once(server.listen(address), 'listening');

// The client half publishes the port.
const headers = { authorization: 'Bearer of this example' };
const tunnel = await openTunnel({ address, headers, publish: [{ hostPort, port: 0 }] });
const [port] = tunnel.ports;
const request = get({ host: '127.0.0.1', port: port?.port, path: '/there', agent: false });
const [response] = (await once(request, 'response')) as [IncomingMessage];
console.log(await text(response));

await tunnel.close();
server.close();
program.close();
