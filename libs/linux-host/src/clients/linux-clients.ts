import { UNIDENTIFIED_CLIENT, type ClientIdentity, type IdentifyClient } from '@wins/base';
import type { Socket } from 'node:net';
import { LinuxError } from '../linux-error.js';
import { processOrigin, type ProcessOrigin } from './process-origin.js';
import { unixSocketPeers, type UnixPeer } from './unix-socket-peers.js';

/**
 * Tells the clients of Unix sockets apart by the credentials of their sockets, and by the container of the process. Root and the user
 * of this process are administrators outside of containers.
 *
 * @throws LinuxError `unavailable` when the system cannot be asked.
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
      // What was looked at is another process when that one had gone.
      const isThere = peers.isThere(fd, peer) !== false;
      return linuxClient(peer, isThere ? origin : { kind: 'unknown' }, ownUid);
    } catch {
      // It has disconnected: nothing is known of it.
      return UNIDENTIFIED_CLIENT;
    }
  };
}

/** Whether {@link linuxClients} can do its work here. */
export function canTellLinuxClients(): boolean {
  try {
    unixSocketPeers();
    return true;
  } catch (error) {
    if (error instanceof LinuxError) return false;
    throw error;
  }
}

/** Makes an identity of the system's answers. A process that cannot be looked at is in the container `unknown`. */
export function linuxClient(peer: UnixPeer, origin: ProcessOrigin, ownUid: number): ClientIdentity {
  const { pid, uid } = peer;
  const process = { ...(pid > 0 && { pid }), uid };
  if (origin.kind === 'host') {
    const isAdministrator = uid === 0 || uid === ownUid;
    const names = [...(isAdministrator ? ['administrators'] : []), `user:${uid}`];
    return { key: `uid:${uid}`, isAdministrator, isEverybody: false, description: process, names };
  }
  if (origin.kind === 'unknown') {
    return { ...UNIDENTIFIED_CLIENT, description: { ...process, container: 'unknown' } };
  }
  const { id: container } = origin;
  return {
    key: `container:${container}`,
    isAdministrator: false,
    isEverybody: false,
    description: { ...process, container },
    // Never its user: root in there is not root out here.
    names: [`container:${container}`],
  };
}

/** Node has no name for it. */
function descriptorOf(connection: Socket): number | undefined {
  const { _handle: handle } = connection as unknown as { _handle?: { fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}
