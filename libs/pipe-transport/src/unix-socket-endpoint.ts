import type { EndpointEvents, PipeEndpoint } from '@wins/base';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { claimName, socketIdentity, type Claim } from './claim-name.js';
import { describePipeError } from './node-errors.js';
import type { PipePath } from './pipe-path.js';

/**
 * One octet more than Node reads at once, so that one read never fills the buffer. A full buffer would make Node pause
 * and resume polling of the socket.
 */
const READ_AHEAD_OCTETS = 64 * 1024 + 1;
/**
 * Maximum number of connections waiting to be accepted; above it, connecting fails at once. Most systems allow this
 * number, 8 times Node's default.
 */
const BACKLOG = 4096;

const HOLDERS: Readonly<Record<Exclude<Claim, 'claimed'>, string>> = {
  served: 'another process serves it',
  notSocket: 'a file that is not a socket has its name, and is left alone',
};

/**
 * Serves a Unix socket that only this user can open, under a name that no other process serves.
 *
 * The directory must already be private. Node cannot set the mode of a socket at creation, and the umask applies to the
 * whole process. So the socket is created in its own directory of mode 0700 and gets its mode 0600 there, before its
 * public name. On close, libuv removes only the original name; `closeServer` removes the public one if this socket
 * still has it.
 *
 * @throws PipeError `inUse` when the name is in use. Errors of the file system pass unchanged.
 */
export async function openUnixSocket(
  path: PipePath,
  events: EndpointEvents,
): Promise<PipeEndpoint> {
  // Do not use `join`: it would drop the dot, and `mkdtemp` would create the folder beside the pipe's directory instead of in it.
  const nursery = await mkdtemp(`${dirname(path.address)}/.`);
  const server = createServer({ highWaterMark: READ_AHEAD_OCTETS }, (connection) =>
    events.accepted(connection),
  );
  try {
    const own = join(nursery, 's');
    server.listen({ path: own, backlog: BACKLOG });
    await once(server, 'listening');
    server.on('error', (error) => events.failed(error));
    await chmod(own, 0o600);
    const identity = await socketIdentity(own);
    const claim = await claimName(own, path.address);
    if (claim !== 'claimed') throw describePipeError('inUse', 'listen on', path, HOLDERS[claim]);
    const close = () => closeServer(server, path.address, identity);
    return { close, [Symbol.asyncDispose]: close };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(nursery, { recursive: true, force: true });
  }
}

/**
 * Removes the name while the socket still answers. Once it is closed, another process may take the name, and `unlink`
 * would remove the other process's socket.
 */
async function closeServer(server: Server, address: string, identity: string): Promise<void> {
  try {
    if ((await socketIdentity(address)) === identity) await unlink(address);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
