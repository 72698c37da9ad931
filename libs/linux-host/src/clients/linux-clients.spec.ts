import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { linuxClient, linuxClients } from './linux-clients.js';

const ID = 'ab'.repeat(32);

describe('a client on Linux', () => {
  const peer = { pid: 7, uid: 0, gid: 0 };

  it('on the host is its user, and an administrator as root or as the user of the daemon', () => {
    const host = { kind: 'host' } as const;
    expect(linuxClient(peer, host, 1000)).toEqual({
      key: 'uid:0',
      isAdministrator: true,
      isEverybody: false,
      description: { pid: 7, uid: 0 },
      names: ['administrators', 'user:0'],
    });
    const other = { ...peer, uid: 1000 };
    expect(linuxClient(other, host, 1000)).toMatchObject({ isAdministrator: true });
    expect(linuxClient(other, host, 0)).toMatchObject({
      key: 'uid:1000',
      isAdministrator: false,
      names: ['user:1000'],
    });
  });

  it('in a container is the container, whatever its user', () => {
    expect(linuxClient(peer, { kind: 'container', id: ID }, 0)).toEqual({
      key: `container:${ID}`,
      isAdministrator: false,
      isEverybody: false,
      description: { pid: 7, uid: 0, container: ID },
      names: [`container:${ID}`],
    });
  });

  it('that cannot be looked at is no administrator, and shares with all such', () => {
    const gone = { pid: 0, uid: 0, gid: 0 };
    expect(linuxClient(gone, { kind: 'unknown' }, 0)).toEqual({
      key: 'unidentified',
      isAdministrator: false,
      isEverybody: false,
      description: { uid: 0, container: 'unknown' },
      names: [],
    });
  });
});

const onLinux = process.platform === 'linux' ? describe : describe.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: who connected a Unix socket, which only Linux says\n');

onLinux('the clients of a Unix socket', () => {
  it('are known by their process and user, and not at all once they have gone', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-clients-'));
    const server = createServer();
    await once(server.listen(path.join(folder, 's')), 'listening');
    const client = connect(path.join(folder, 's'));
    const [socket] = (await once(server, 'connection')) as [Socket];
    const identify = linuxClients();
    const uid = process.getuid?.();
    expect(identify(socket)).toMatchObject({
      isAdministrator: true,
      description: { pid: process.pid, uid },
      names: ['administrators', `user:${uid}`],
    });
    client.destroy();
    socket.destroy();
    await once(socket, 'close');
    expect(identify(socket)).toMatchObject({ key: 'unidentified', isAdministrator: false });
    server.close();
    rmSync(folder, { recursive: true });
  });
});
