import type { EndpointEvents, PipeEndpoint } from '@wins/base';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { claimName, socketIdentity, type Claim } from './claim-name.js';
import { describePipeError } from './node-errors.js';
import type { PipePath } from './pipe-path.js';

/** A read of Node, and one octet more: a stream that is full after each read leaves the poll of the system and joins it again. */
const READ_AHEAD_OCTETS = 64 * 1024 + 1;
/** Connections that wait to be accepted; beyond them, connecting fails at once. What most systems allow, 8 times what Node asks for. */
const BACKLOG = 4096;

const HOLDERS: Readonly<Record<Exclude<Claim, 'claimed'>, string>> = {
  served: 'another process serves it',
  notSocket: 'a file that is not a socket has its name, and is left alone',
};

/**
 * Serves a Unix socket that only this user can open, under a name that no one else serves.
 *
 * The directory must be private already. Node cannot give a socket its mode at birth and the umask
 * belongs to the whole process, so the socket is born in a directory of its own, mode 0700, gets its
 * mode 0600 there, and only then its name. libuv removes the name of birth when the server closes,
 * never the public one, which is removed here, and only while it is still ours.
 *
 * @throws PipeError `inUse` when the name is taken. Errors of the file system come out as Node made them.
 */
export async function openUnixSocket(
  path: PipePath,
  events: EndpointEvents,
): Promise<PipeEndpoint> {
  // `join` would take the dot away, and the folder with it.
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
    return { close: () => closeServer(server, path.address, identity) };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(nursery, { recursive: true, force: true });
  }
}

/** The name goes first, while the socket still answers: a name that does not answer may be replaced
 *  by others at any time, and then it would be theirs that is removed. */
async function closeServer(server: Server, address: string, identity: string): Promise<void> {
  try {
    if ((await socketIdentity(address)) === identity) await unlink(address);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
