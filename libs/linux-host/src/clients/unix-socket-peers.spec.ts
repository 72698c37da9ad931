import { once } from 'node:events';
import { openSync, closeSync, mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unixSocketPeers } from './unix-socket-peers.js';

const NOBODY = 65_534;
const onLinux = process.platform === 'linux' ? describe : describe.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: who connected a Unix socket, which only Linux says\n');
const itAsRoot = process.getuid?.() === 0 ? it : it.skip;
if (itAsRoot === it.skip) process.stderr.write('SKIPPED: another user, whom only root can be\n');

onLinux('who connected a Unix socket', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-peers-'));
  const address = path.join(folder, 's');
  const peers = process.platform === 'linux' ? unixSocketPeers() : undefined;
  let server: Server;

  beforeAll(async () => {
    server = createServer({ allowHalfOpen: true });
    await once(server.listen(address), 'listening');
    chmodSync(folder, 0o711);
    chmodSync(address, 0o666);
  });
  afterAll(async () => {
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  const descriptorOf = (socket: Socket): number =>
    (socket as unknown as { _handle: { fd: number } })._handle.fd;

  it('is told by process, user and group', async () => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(address);
    const [socket] = await accepted;
    expect(peers?.peerOf(descriptorOf(socket))).toEqual({
      pid: process.pid,
      uid: process.getuid?.(),
      gid: process.getgid?.(),
    });
    const fd = descriptorOf(socket);
    const peer = { pid: process.pid, uid: 0, gid: 0 };
    // Linux before 6.5 cannot return the pidfd of a peer.
    if (peers?.isThere(fd, peer) !== undefined) {
      expect(peers.isThere(fd, peer)).toBe(true);
      expect(peers.isThere(fd, { ...peer, pid: 1 })).toBe(false);
    }
    client.destroy();
    socket.destroy();
  });

  itAsRoot('is a process of another user, even after it has ended', async () => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const source = `require('net').connect(${JSON.stringify(address)}, () => process.exit())`;
    const child = spawn(process.execPath, ['-e', source], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    const [socket] = await accepted;
    if (child.exitCode === null) await once(child, 'exit');
    expect(peers?.peerOf(descriptorOf(socket))).toEqual({
      pid: child.pid,
      uid: NOBODY,
      gid: NOBODY,
    });
    const gone = { pid: child.pid ?? 0, uid: NOBODY, gid: NOBODY };
    expect([false, undefined]).toContain(peers?.isThere(descriptorOf(socket), gone));
    socket.destroy();
  });

  const failureOf = (fd: number): unknown => {
    try {
      return peers?.peerOf(fd);
    } catch (error) {
      return error;
    }
  };

  it('is an error for what is no socket', () => {
    const fd = openSync('/dev/null', 'r');
    expect(failureOf(fd)).toMatchObject({
      name: 'LinuxError',
      code: 'noPeer',
      message: `cannot find the peer of descriptor ${fd}: it is not a socket; wanted a connected Unix socket`,
    });
    closeSync(fd);
  });

  it('is an error for a socket that nobody connected', async () => {
    const tcp = createServer();
    await once(tcp.listen(0, '127.0.0.1'), 'listening');
    const { fd } = (tcp as unknown as { _handle: { fd: number } })._handle;
    expect(failureOf(fd)).toMatchObject({ code: 'noPeer' });
    tcp.close();
    await once(tcp, 'close');
  });
});
