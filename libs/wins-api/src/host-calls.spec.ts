import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createWinsClient, NetworkGetRequest, WinsClientError } from './index.js';
import type { WinsClient } from './index.js';
import { recordedDaemon } from './testing/index.js';
import type { RecordedCommand } from './testing/index.js';

const HEADERS_FRAME = 1;
const FRAME_HEADER_BYTES = 9;
const PREFACE_BYTES = 24;

describe('the host calls of a client, answered by a recorded Go daemon', () => {
  let directory: string;
  let listener: net.Server;
  let client: WinsClient;
  let recording: RecordedCommand;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'wins-api-'));
    const address = path.join(directory, 's');
    listener = net.createServer((socket) => {
      const received: Buffer[] = [];
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        received.push(chunk);
        if (!asksSomething(Buffer.concat(received))) return;
        socket.removeAllListeners('data').resume();
        socket.write(recordedDaemon(recording).subarray(settingsBytes));
      });
      // A client asks nothing before it has the settings of the daemon.
      const settingsBytes = FRAME_HEADER_BYTES + recordedDaemon(recording).readUIntBE(0, 3);
      socket.write(recordedDaemon(recording).subarray(0, settingsBytes));
    });
    listener.listen(address);
    await once(listener, 'listening');
    client = createWinsClient({ address });
  });

  afterEach(async () => {
    await client.close();
    listener.close();
    await once(listener, 'close');
    await rm(directory, { recursive: true });
  });

  /** Whether an HTTP/2 client has come to its first request: a HEADERS frame after the preface. */
  function asksSomething(octets: Buffer): boolean {
    for (
      let at = PREFACE_BYTES;
      at + FRAME_HEADER_BYTES <= octets.length;
      at += FRAME_HEADER_BYTES + octets.readUIntBE(at, 3)
    ) {
      if (octets[at + 3] === HEADERS_FRAME) return true;
    }
    return false;
  }

  it('reads the version of the host', async () => {
    recording = 'host-get-version';
    await expect(client.host.version()).resolves.toEqual({
      CurrentMajorVersionNumber: '10',
      CurrentMinorVersionNumber: '0',
      CurrentBuildNumber: '18362',
      UBR: '0',
      ReleaseId: '',
      BuildLabEx: '',
      CurrentBuild: '18362',
    });
  });

  it('reads a network adapter', async () => {
    recording = 'network-get';
    await expect(client.host.adapter()).resolves.toEqual({
      InterfaceIndex: '4',
      GatewayAddress: '192.0.2.1',
      SubnetCIDR: '192.0.2.0/24',
      HostName: 'vm',
      AddressCIDR: '192.0.2.2/32',
    });
  });

  it('adds routes', async () => {
    recording = 'route-add';
    await expect(client.host.addRoutes(['8.8.8.8/32'])).resolves.toBeUndefined();
  });

  it('fails as the daemon says where there is no HNS', async () => {
    recording = 'hns-get-network-error';
    const error: unknown = await client.host
      .hnsNetwork({ name: 'nat' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WinsClientError);
    expect(error).toMatchObject({ code: 'invalidRequest', method: 'GetNetwork' });
  });
});

describe('the messages of the host calls', () => {
  it('have the octets that the Go client sends', () => {
    const ask = NetworkGetRequest.create({ Options: { $case: 'Name', value: 'nat' } });
    expect(Buffer.from(NetworkGetRequest.encode(ask).finish())).toEqual(
      Buffer.from('12036e6174', 'hex'),
    );
  });
});
