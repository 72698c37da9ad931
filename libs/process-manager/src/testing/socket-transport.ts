import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { KeeperTransport } from '../keeper/keeper-transport.js';

/** Sockets in the private state folder, without a further check of the peer. */
export const socketTransport: KeeperTransport = {
  listen: async (address, onConnection) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      onConnection(socket);
    });
    server.listen(address);
    await once(server, 'listening');
    return {
      close: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
  connect: async (address) => {
    const socket = connect(address);
    await once(socket, 'connect');
    return socket;
  },
};
