import { once } from 'node:events';
import { createServer } from 'node:net';
import { portOf } from '../free-port.mjs';

export async function startEcho() {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: portOf(server),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
