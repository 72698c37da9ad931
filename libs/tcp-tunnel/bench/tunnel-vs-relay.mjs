// Measures the tunnel against a plain TCP relay in the same run and prints the ratios. Build the library first:
//   npx nx build tcp-tunnel && node libs/tcp-tunnel/bench/tunnel-vs-relay.mjs [megabytes]
// Programs, each a process of its own: the target (source, sink, echo), the relay, both ends of the tunnel, and this
// load generator. Only ratios mean anything: all of them share the machine.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import {
  answerMemory,
  connectionsPerSecond,
  download,
  echoes,
  flood,
  listenOn,
  MEGABYTE,
  quantile,
  rate,
  startProgram,
  upload,
} from './load.mjs';

const [role, argument] = process.argv.slice(2);
const roles = { server, client };
if (role in roles) await roles[role](JSON.parse(argument));
else await main(Number(role ?? 1000));

async function server({ port, socketPath }) {
  const { serveTunnel, webSocketServerOptions } = await import('../dist/index.js');
  const http = createHttpServer();
  const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
  http.on('upgrade', (request, socket, head) =>
    webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      serveTunnel(webSocket, { allowedPorts: [port], localConnection: socket }),
    ),
  );
  await listenOn(http, socketPath);
  process.send('ready');
  answerMemory();
}

async function client({ port, socketPath }) {
  const { openTunnel, listenTcp, webSocketClientOptions } = await import('../dist/index.js');
  const localConnection = connect(socketPath);
  const webSocket = new WebSocket('ws://tunnel/', {
    ...webSocketClientOptions({ localEndpoint: true }),
    createConnection: () => localConnection,
  });
  await once(webSocket, 'open');
  const tunnel = openTunnel(webSocket, { localConnection });
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    open: () => tunnel.connect(port),
  });
  process.send(listener.port);
  answerMemory();
}

async function main(megabytes) {
  const directory = mkdtempSync(path.join(tmpdir(), 'tunnel-bench-'));
  const socketPath = path.join(directory, 'transport.sock');
  const children = [];
  const start = async (name, options = {}) => {
    const child = fork(fileURLToPath(import.meta.url), [name, JSON.stringify(options)]);
    children.push(child);
    const [answer] = await once(child, 'message');
    return { child, answer };
  };
  const target = await startProgram('target');
  const { port } = target;
  const relayed = await startProgram('relay', { to: port });
  children.push(target.child, relayed.child);
  const served = await start('server', { port, socketPath });
  const tunnelled = await start('client', { port, socketPath });
  const ways = { relay: relayed.port, tunnel: tunnelled.answer };
  const bytes = megabytes * MEGABYTE;
  const rows = [
    ['down, 1 stream, MB/s', (way) => rate(bytes, 1, way, download), 'atLeast', 0.4],
    ['up, 1 stream, MB/s', (way) => rate(bytes, 1, way, upload), 'atLeast', 0.4],
    ['down, 8 streams, MB/s', (way) => rate(bytes, 8, way, download), 'atLeast', 0.4],
    ['up, 8 streams, MB/s', (way) => rate(bytes, 8, way, upload), 'atLeast', 0.4],
    ['64 B echo, median µs', async (way) => quantile(await echoes(way, 3000), 0.5), 'atMost', 2.2],
    ['connections per second', connectionsPerSecond, 'atLeast', 0.7],
  ];
  for (const way of Object.values(ways)) await rate(bytes / 4, 1, way, download);
  for (const [name, measure, sense, bound] of rows) {
    const results = { relay: [], tunnel: [] };
    for (let round = 0; round < 3; round += 1)
      for (const way of ['relay', 'tunnel']) results[way].push(await measure(ways[way]));
    const [relay, tunnel] = [quantile(results.relay, 0.5), quantile(results.tunnel, 0.5)];
    const ratio = tunnel / relay;
    const met = sense === 'atLeast' ? ratio >= bound : ratio <= bound;
    report(
      name,
      `relay ${relay.toFixed(0)}`,
      `tunnel ${tunnel.toFixed(0)}`,
      `ratio ${ratio.toFixed(2)}`,
      met,
      `${sense} ${bound}`,
    );
  }
  for (const [name, way] of Object.entries(ways)) {
    const bulk = flood(way).resume();
    await once(bulk, 'data');
    const p99 = quantile(await echoes(way, 2000), 0.99) / 1000;
    bulk.destroy();
    report(
      `64 B echo under bulk, p99 ms (${name})`,
      p99.toFixed(2),
      '',
      '',
      name === 'relay' || p99 <= 10,
      'atMost 10',
    );
  }
  const before = await memory([served.child, tunnelled.child]);
  const stalled = Array.from({ length: 100 }, () => flood(ways.tunnel));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const after = await memory([served.child, tunnelled.child]);
  const growth = after.map((value, index) => (value - before[index]) / 1024 / 1024);
  report(
    '100 stalled readers, growth MiB',
    `server ${growth[0].toFixed(0)}`,
    `client ${growth[1].toFixed(0)}`,
    '',
    Math.max(...growth) <= 64,
    'atMost 64 each',
  );
  for (const socket of stalled) socket.destroy();
  for (const child of children) child.kill();
  rmSync(directory, { recursive: true });
}

function memory(children) {
  return Promise.all(
    children.map(async (child) => {
      child.send('memory');
      return (await once(child, 'message'))[0];
    }),
  );
}

function report(name, first, second, third, met, bound) {
  process.stdout.write(
    `${met ? 'ok  ' : 'MISS'} ${name.padEnd(40)} ${first.padEnd(14)} ${second.padEnd(14)} ${third.padEnd(12)} ${bound}\n`,
  );
}
