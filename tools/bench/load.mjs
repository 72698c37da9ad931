// Generates load for the tunnel and for plain relays. Helpers run as separate processes, such as `node load.mjs target`. Each helper sends its port
// to its parent. A relay answers each message of the parent with its resident memory in bytes.
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export const MEGABYTE = 1e6;
const KEPT_BYTES = 256 * 1024;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [role, ends] = process.argv.slice(2);
  const { from = 0, to } = JSON.parse(ends);
  if (role === 'target') await target();
  else if (role === 'reader') await reader(to);
  else if (role === 'udp-target') await udpTarget();
  else if (role === 'udp-relay') await udpRelay(to);
  else if (role === 'shared-relay') await sharedRelay(from, to);
  else await relay(from, to);
}

/**
 * Starts `target`, `relay`, `reader`, or a program for UDP, as a process.
 *
 * @param {string} role
 * @param {{ execArgv?: string[], from?: number | string, to?: number | string }} [ends] - `from`: where a relay listens, by default on a free port;
 * `to`: where a relay or reader connects. Each is a port or a Unix socket.
 */
export async function startProgram(role, { execArgv = [], ...ends } = {}) {
  const child = fork(fileURLToPath(import.meta.url), [role, JSON.stringify(ends)], { execArgv });
  const [answer] = await once(child, 'message');
  return { child, port: answer };
}

// The first byte of a connection chooses its kind: s(ource), k (sink), e(cho), f(lood without end).
async function target() {
  const block = Buffer.alloc(64 * 1024, 7);
  const listening = createServer(
    { noDelay: true, allowHalfOpen: true, highWaterMark: KEPT_BYTES },
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
            // More data than requested may arrive. A second answer would be a write after the end, which resets the connection.
            if (left <= 0) return;
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
  process.send?.(await listenOn(listening, 0));
}

async function udpTarget() {
  const socket = createSocket('udp4');
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  process.send?.(await boundPort(socket));
}

/** Relays UDP with one socket for each source. */
async function udpRelay(to) {
  const front = createSocket('udp4');
  const flows = new Map();
  front.on('message', (datagram, { port, address }) => {
    const key = `${address} ${port}`;
    let flow = flows.get(key);
    if (flow === undefined) {
      flow = createSocket('udp4');
      flow.on('message', (answer) => front.send(answer, port, address));
      flows.set(key, flow);
    }
    flow.send(datagram, to, '127.0.0.1');
  });
  process.send?.(await boundPort(front));
}

async function boundPort(socket) {
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

/** Reads without end. It is a separate process, so that it does not disturb the measurement. */
async function reader(port) {
  const bulk = flood(port).resume();
  await once(bulk, 'data');
  process.send?.(port);
}

async function relay(from, to) {
  const where = typeof to === 'string' ? { path: to } : { host: '127.0.0.1', port: to };
  const listening = createServer({ noDelay: true, allowHalfOpen: true }, (a) => {
    const b = connect({ ...where, noDelay: true, allowHalfOpen: true });
    a.on('error', () => b.destroy());
    b.on('error', () => a.destroy());
    a.pipe(b).pipe(a);
  });
  process.send?.((await listenOn(listening, from)) ?? from);
  answerMemory();
}

/** One of two relays whose streams share a Unix socket. The near relay connects to the far one. */
async function sharedRelay(from, to) {
  const { sharedFarRelay, sharedNearRelay } = await import('./shared-relay.mjs');
  if (typeof to === 'string') {
    process.send?.(await sharedNearRelay(to));
    return;
  }
  await sharedFarRelay(from, to);
  process.send?.(from);
}

/** Splits a transfer into parallel streams. Returns MB/s. */
export async function rate(bytes, streams, way, transfer) {
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

export async function download(port, bytes) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = 0;
  socket.on('data', (chunk) => (received += chunk.length));
  socket.write(request('s', bytes));
  await once(socket, 'end');
  if (received < bytes) throw new Error(`received ${received} of ${bytes} bytes`);
}

export async function upload(port, bytes) {
  const block = Buffer.alloc(64 * 1024, 7);
  const options = { port, host: '127.0.0.1', noDelay: true, highWaterMark: KEPT_BYTES };
  const socket = connect(options);
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

/** Returns the durations of sequential round trips of 64 bytes, in microseconds. `localAddress`: the source, by default 127.0.0.1. */
export async function echoes(port, count, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, localAddress });
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

/** Like {@link echoes}, with datagrams. The loopback loses none, because only one is under way. */
export async function datagramEchoes(port, count) {
  const socket = createSocket('udp4');
  await boundPort(socket);
  const payload = Buffer.alloc(64, 1);
  const trips = [];
  for (let trip = 0; trip < count; trip += 1) {
    const began = performance.now();
    socket.send(payload, port, '127.0.0.1');
    await once(socket, 'message');
    trips.push((performance.now() - began) * 1000);
  }
  socket.close();
  return trips.slice(count / 10);
}

export async function connectionsPerSecond(port, total = 3000) {
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

/** Opens `total` connections, 16 in parallel. Each gets an echo, then closes. Returns `times` in ms, and the `rate` per second. */
export async function connectionTimes(port, total) {
  let left = total;
  const times = [];
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.write('e' + 'x'.repeat(64));
      await once(socket, 'data');
      socket.end();
      await once(socket, 'close');
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: 16 }, worker));
  return { times, rate: total / ((performance.now() - began) / 1000) };
}

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * q)];
}

/** Opens an endless stream, without reading it. */
export function flood(port) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write('f');
  return socket;
}

export function answerMemory() {
  process.on('message', () => process.send?.(process.memoryUsage().rss));
}

export async function listenOn(listening, where) {
  if (typeof where === 'string') listening.listen(where);
  else listening.listen(where, '127.0.0.1');
  await once(listening, 'listening');
  return listening.address().port;
}
