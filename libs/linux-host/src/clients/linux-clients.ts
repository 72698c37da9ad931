import { UNIDENTIFIED_CLIENT, type ClientIdentity, type IdentifyClient } from '@wins/base';
import type { Socket } from 'node:net';
import { LinuxError } from '../linux-error.js';
import { processOrigin, type ProcessOrigin } from './process-origin.js';
import { unixSocketPeers, type UnixPeer } from './unix-socket-peers.js';

/**
 * Identifies clients of Unix sockets by their socket credentials and their container. Root and the user of this process
 * are administrators, unless they are in a container.
 *
 * @throws LinuxError `unavailable` when the system cannot provide the credentials.
 */
export function linuxClients(): IdentifyClient {
  const peers = unixSocketPeers();
  const ownUid = process.getuid?.() ?? 0;
  return (connection) => {
    const fd = descriptorOf(connection);
    if (fd === undefined) return UNIDENTIFIED_CLIENT;
    try {
      const peer = peers.peerOf(fd);
      const origin = processOrigin(peer.pid);
      // If the client has ended, `processOrigin` may have inspected another process with its PID.
      const isThere = peers.isThere(fd, peer) !== false;
      return linuxClient(peer, isThere ? origin : { kind: 'unknown' }, ownUid);
    } catch {
      // The client has disconnected, so nothing is known about it.
      return UNIDENTIFIED_CLIENT;
    }
  };
}

/** Whether {@link linuxClients} works on this system. */
export function canTellLinuxClients(): boolean {
  try {
    unixSocketPeers();
    return true;
  } catch (error) {
    if (error instanceof LinuxError) return false;
    throw error;
  }
}

/** A process that cannot be inspected gets the container `unknown`. */
export function linuxClient(peer: UnixPeer, origin: ProcessOrigin, ownUid: number): ClientIdentity {
  const { pid, uid } = peer;
  const process = { ...(pid > 0 && { pid }), uid };
  if (origin.kind === 'host') {
    const isAdministrator = uid === 0 || uid === ownUid;
    const names = [...(isAdministrator ? ['administrators'] : []), `user:${uid}`];
    return { key: `uid:${uid}`, isAdministrator, isEverybody: false, description: process, names };
  }
  if (origin.kind === 'unknown')
    return { ...UNIDENTIFIED_CLIENT, description: { ...process, container: 'unknown' } };
  const { id: container } = origin;
  return {
    key: `container:${container}`,
    isAdministrator: false,
    isEverybody: false,
    description: { ...process, container },
    // Omit the user id, because root in a container is not root on the host.
    names: [`container:${container}`],
  };
}

/** Node has no public API for the descriptor of a socket. */
function descriptorOf(connection: Socket): number | undefined {
  const { _handle: handle } = connection as unknown as { _handle?: { fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}
