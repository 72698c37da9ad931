import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unixSocketPeers } from '@wins/linux-host';

const peers = unixSocketPeers();
const address = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'socket');
const server = createServer((socket) => {
  const peer = peers.peerOf(descriptorOf(socket));
  console.log(peer?.pid === process.pid, peer?.uid === process.getuid?.());
  socket.destroy();
  server.close();
});
server.listen(address, () => connect(address));

function descriptorOf(socket: Socket): number {
  return (socket as unknown as { _handle: { fd: number } })._handle.fd;
}
