// Two plain relays, with which the benchmark compares the tunnel. All their streams share one Unix socket, and no stream has its own flow control.
// Data passes in pieces. Each piece has a head with the stream's number and the piece's length; length 0 ends the stream.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { portOf } from '../free-port.mjs';

const HEAD_BYTES = 8;
const KEPT_BYTES = 128 * 1024;
const WAITING_BYTES = 1024 * 1024;
const SOCKET_OPTIONS = { highWaterMark: KEPT_BYTES, noDelay: true, allowHalfOpen: true };

/** Connects each stream of a Unix socket to a port. */
export async function sharedFarRelay(from, to) {
  const where = { ...SOCKET_OPTIONS, host: '127.0.0.1', port: to };
  const open = () => connect(where);
  await once(createServer((shared) => void carry(shared, open)).listen(from), 'listening');
}

/** Resolves with a port, and carries its connections through one connection to a Unix socket. */
export async function sharedNearRelay(to) {
  const where = { path: to, highWaterMark: WAITING_BYTES };
  const shared = connect(where);
  await once(shared, 'connect');
  const add = carry(shared, () => undefined);
  let streams = 0;
  const onConnection = (socket) => add((streams += 1), socket);
  const server = createServer(SOCKET_OPTIONS, onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

/** Returns a function that adds a stream; `open` creates the socket for a stream that the peer added. */
function carry(shared, open) {
  const sockets = new Map();
  const waiting = new Set();
  shared.on('drain', () => {
    for (const socket of waiting) socket.resume();
    waiting.clear();
  });
  const send = (id, bytes) => {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(id, 0);
    head.writeUInt32LE(bytes?.length ?? 0, 4);
    shared.cork();
    shared.write(head);
    if (bytes !== undefined) shared.write(bytes);
    shared.uncork();
    return !shared.writableNeedDrain;
  };
  const add = (id, socket) => {
    sockets.set(id, socket);
    socket.on('data', (bytes) => {
      if (send(id, bytes)) return;
      socket.pause();
      waiting.add(socket);
    });
    socket.on('end', () => send(id));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      waiting.delete(socket);
      sockets.delete(id);
    });
  };

  let [cut, id, left, blocked] = [Buffer.alloc(0), 0, 0, 0];
  const block = (socket) => {
    blocked += 1;
    shared.pause();
    const release = () => {
      socket.off('drain', release);
      socket.off('close', release);
      blocked -= 1;
      if (blocked === 0) shared.resume();
    };
    socket.on('drain', release);
    socket.on('close', release);
  };
  shared.on('data', (chunk) => {
    const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk]);
    const written = new Set();
    let at = 0;
    cut = Buffer.alloc(0);
    while (at < bytes.length) {
      if (left === 0) {
        if (bytes.length - at < HEAD_BYTES) {
          cut = bytes.subarray(at);
          break;
        }
        id = bytes.readUInt32LE(at);
        left = bytes.readUInt32LE(at + 4);
        at += HEAD_BYTES;
        if (left === 0) sockets.get(id)?.end();
        else if (!sockets.has(id)) {
          const socket = open();
          if (socket !== undefined) add(id, socket);
        }
        continue;
      }
      const part = bytes.subarray(at, at + left);
      at += part.length;
      left -= part.length;
      const socket = sockets.get(id);
      if (socket === undefined || socket.destroyed) continue;
      if (!written.has(socket)) socket.cork();
      written.add(socket);
      socket.write(part);
    }
    for (const socket of written) {
      socket.uncork();
      if (socket.writableNeedDrain) block(socket);
    }
  });
  return add;
}
