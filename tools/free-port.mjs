import { once } from 'node:events';
import { createServer } from 'node:net';

/** @param {import('node:net').Server} server */
export const portOf = (server) =>
  /** @type {import('node:net').AddressInfo} */ (server.address()).port;

export async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  await once(server.close(), 'close');
  return port;
}
