import { serveTunnel, webSocketServerOptions } from '@wins/tcp-tunnel';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { proxyPorts } from './proxy.js';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}

it('is not ready from the first signal on, though open connections may go on', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-proxy-'));
  const [pipe, ready] = [path.join(folder, 'pipe'), path.join(folder, 'ready')];
  const echo = createServer((socket) => socket.pipe(socket));
  const hostPort = await listening(echo);
  const daemon = createHttpServer();
  const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
  daemon.on('upgrade', (request, socket, head) =>
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      serveTunnel(webSocket, { allowedPorts: [hostPort] });
    }),
  );
  daemon.listen(pipe);
  await once(daemon, 'listening');
  const port = await freePort();
  const code = proxyPorts({
    publish: `TCP:${port}:${hostPort}`,
    proxy: pipe,
    'listen-address': '127.0.0.1',
    'ready-file': ready,
    'wait-timeout': 0,
    debug: false,
    quiet: true,
    refusedPorts: () => Promise.resolve([]),
  });
  while (!existsSync(ready)) await turn();
  const socket = connect(port, '127.0.0.1');
  socket.write('hello');
  await once(socket, 'data');

  process.emit('SIGINT');
  await turn();
  expect(existsSync(ready)).toBe(false);
  socket.write('more');
  expect(String(await once(socket, 'data'))).toBe('more');
  socket.end();
  expect(await code).toBe(0);
  for (const server of [daemon, echo]) server.close();
  rmSync(folder, { recursive: true });
});
