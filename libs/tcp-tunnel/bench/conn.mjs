// Measures the tunnel against a plain TCP relay in the same run and prints the ratios. Build the library first:
//   npx nx build tcp-tunnel && node libs/tcp-tunnel/bench/tunnel-vs-relay.mjs [megabytes]
// Programs, each a process of its own: the target (source, sink, echo), the relay, both ends of the tunnel, and this
// load generator. Only ratios mean anything: all of them share the machine.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';

const MEGABYTE = 1e6;
const [role, argument] = process.argv.slice(2);
const roles = { target, relay, server, client };
if (role in roles) await roles[role](JSON.parse(argument));
else await main(Number(role ?? 1000));

// What a connection wants is its first byte: s(ource), k (sink), e(cho), f(lood without end).
async function target() {
  const block = Buffer.alloc(64 * 1024, 7);
  const listening = createServer(
    { noDelay: true, allowHalfOpen: true, highWaterMark: 256 * 1024 },
    (socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', (first) => {
        const kind = String.fromCharCode(first[0]);
        if (kind === 'e') {
          socket.on('end', () => socket.end());
          socket.on('data', (chunk) => socket.write(chunk));
          if (first.length > 1) socket.write(first.subarray(1));
        } else if (kind === 'k') {
          let left = first.readDoubleLE(1) - (first.length - 9);
          const count = (chunk) => {
            left -= chunk.length;
            if (left <= 0) socket.end('k');
          };
          socket.on('data', count);
        } else {
          let left = kind === 'f' ? Infinity : first.readDoubleLE(1);
          const fill = () => {
            while (left > 0) {
              left -= block.length;
              if (!socket.write(block)) return;
            }
            socket.end();
          };
          socket.on('drain', fill);
          socket.resume();
          socket.on('end', () => socket.end());
          fill();
        }
      });
    },
  );
  process.send(await listenOn(listening, 0));
}

async function relay({ port }) {
  const listening = createServer({ noDelay: true, allowHalfOpen: true }, (a) => {
    const b = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true });
    a.on('error', () => b.destroy());
    b.on('error', () => a.destroy());
    a.pipe(b).pipe(a);
  });
  process.send(await listenOn(listening, 0));
  answerMemory();
}

async function server({ port, socketPath }) {
  const { serveTunnel, webSocketServerOptions } = await import('../dist/index.js');
  const http = createHttpServer();
  const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
  http.on('upgrade', (request, socket, head) =>
    webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      serveTunnel(webSocket, { allowedPorts: [port] }),
    ),
  );
  await listenOn(http, socketPath);
  process.send('ready');
  answerMemory();
}

async function client({ port, socketPath }) {
  const { openTunnel, listenTcp, webSocketClientOptions } = await import('../dist/index.js');
  const webSocket = new WebSocket(
    `ws+unix:${socketPath}:/`,
    webSocketClientOptions({ localEndpoint: true }),
  );
  await once(webSocket, 'open');
  const tunnel = openTunnel(webSocket);
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
  const socketPath = path.join(directory, 'carrier.sock');
  const children = [];
  const start = async (name, options = {}) => {
    const child = fork(fileURLToPath(import.meta.url), [name, JSON.stringify(options)]);
    children.push(child);
    const [answer] = await once(child, 'message');
    return { child, answer };
  };
  const port = (await start('target')).answer;
  const relayed = await start('relay', { port });
  const served = await start('server', { port, socketPath });
  const tunnelled = await start('client', { port, socketPath });
  const ways = { relay: relayed.answer, tunnel: tunnelled.answer };
  const bytes = megabytes * MEGABYTE;
  const rows = [
    ['down, 1 stream, MB/s', (way) => rate(bytes, 1, way, download), 'atLeast', 0.4],
    ['up, 1 stream, MB/s', (way) => rate(bytes, 1, way, upload), 'atLeast', 0.4],
    ['down, 8 streams, MB/s', (way) => rate(bytes, 8, way, download), 'atLeast', 0.4],
    ['up, 8 streams, MB/s', (way) => rate(bytes, 8, way, upload), 'atLeast', 0.4],
    ['64 B echo, median µs', async (way) => quantile(await echoes(way, 3000), 0.5), 'atMost', 2.2],
    ['connections per second', connectionsPerSecond, 'atLeast', 0.7],
  ];

  for (const [name, measure, sense, bound] of rows.slice(5, 6)) {
    const c0 = await memory([relayed.child, served.child, tunnelled.child]);
    const results = { relay: [], tunnel: [] };
    for (let round = 0; round < 3; round += 1)
      for (const way of ['relay', 'tunnel']) results[way].push(await measure(ways[way]));
    const c1 = await memory([relayed.child, served.child, tunnelled.child]);
    console.log(
      'cpu us/conn relay,server,client',
      c1.map((v, i) => ((v - c0[i]) / 9000).toFixed(0)).join(' '),
    );
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
  for (const child of children) child.kill();
  rmSync(directory, { recursive: true });
  return;
  for (const [name, way] of Object.entries(ways)) {
    const bulk = connect(way, '127.0.0.1').on('error', () => undefined);
    bulk.write('f');
    bulk.resume();
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
  const stalled = Array.from({ length: 100 }, () => {
    const socket = connect(ways.tunnel, '127.0.0.1').on('error', () => undefined);
    socket.write('f');
    return socket;
  });
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

async function rate(bytes, streams, way, transfer) {
  const began = performance.now();
  await Promise.all(Array.from({ length: streams }, () => transfer(way, bytes / streams)));
  return bytes / MEGABYTE / ((performance.now() - began) / 1000);
}

function request(kind, bytes) {
  const message = Buffer.alloc(9);
  message.write(kind);
  message.writeDoubleLE(bytes, 1);
  return message;
}

async function download(port, bytes) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = 0;
  socket.on('data', (chunk) => (received += chunk.length));
  socket.write(request('s', bytes));
  await once(socket, 'end');
  if (received < bytes) throw new Error(`received ${received} of ${bytes} bytes`);
}

async function upload(port, bytes) {
  const block = Buffer.alloc(64 * 1024, 7);
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, highWaterMark: 256 * 1024 });
  socket.write(request('k', bytes));
  let left = bytes;
  const fill = () => {
    while (left > 0) {
      left -= block.length;
      if (!socket.write(block)) return;
    }
  };
  socket.on('drain', fill);
  fill();
  await once(socket, 'data');
  socket.destroy();
}

/** Round trips of 64 bytes, one after the other, in microseconds. */
async function echoes(port, count) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.write('e');
  const payload = Buffer.alloc(64, 1);
  const trips = [];
  for (let trip = 0; trip < count; trip += 1) {
    const began = performance.now();
    socket.write(payload);
    await once(socket, 'data');
    trips.push((performance.now() - began) * 1000);
  }
  socket.end();
  return trips.slice(count / 10);
}

async function connectionsPerSecond(port) {
  const total = 3000;
  let left = total;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.end('e' + 'x'.repeat(64));
      socket.resume();
      await once(socket, 'close');
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: 16 }, worker));
  return total / ((performance.now() - began) / 1000);
}

function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * q)];
}

function answerMemory() {
  process.on('message', () => {
    const u = process.cpuUsage();
    process.send(process.env.SYS ? u.system : u.user + u.system);
  });
  process.on('SIGTERM', () => process.exit());
}

function memory(children) {
  return Promise.all(
    children.map(async (child) => {
      child.send('memory');
      return (await once(child, 'message'))[0];
    }),
  );
}

async function listenOn(listening, where) {
  if (typeof where === 'string') listening.listen(where);
  else listening.listen(where, '127.0.0.1');
  await once(listening, 'listening');
  return listening.address().port;
}

function report(name, first, second, third, met, bound) {
  process.stdout.write(
    `${met ? 'ok  ' : 'MISS'} ${name.padEnd(40)} ${first.padEnd(14)} ${second.padEnd(14)} ${third.padEnd(12)} ${bound}\n`,
  );
}
