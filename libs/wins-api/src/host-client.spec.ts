import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { NetworkGetRequest } from './gen/network.js';
import { createWinsClient, WinsClientError, type WinsClient } from './index.js';
import { RecordedDaemon, type RecordedCommand } from './testing/index.js';

describe('the calls of a client, answered by a recorded Go daemon', () => {
  let directory: string;
  let daemon: RecordedDaemon;
  let client: WinsClient;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'wins-api-'));
  });

  afterEach(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  async function connect(command: RecordedCommand): Promise<void> {
    const address = path.join(directory, 's');
    daemon = await RecordedDaemon.listen(address, command);
    client = createWinsClient({ address });
  }

  it('reads the build of the daemon', async () => {
    await connect('app-info');
    await expect(client.info()).resolves.toMatchObject({ version: expect.any(String) as string });
  });

  it('reads the version of the host', async () => {
    await connect('host-get-version');
    await expect(client.host.version()).resolves.toEqual({
      currentMajorVersionNumber: '10',
      currentMinorVersionNumber: '0',
      currentBuildNumber: '18362',
      ubr: '0',
      releaseId: '',
      buildLabEx: '',
      currentBuild: '18362',
    });
  });

  it('reads a network adapter', async () => {
    await connect('network-get');
    await expect(client.host.adapter()).resolves.toEqual({
      interfaceIndex: '4',
      gatewayAddress: '192.0.2.1',
      subnetCidr: '192.0.2.0/24',
      hostName: 'vm',
      addressCidr: '192.0.2.2/32',
    });
  });

  it('adds routes', async () => {
    await connect('route-add');
    await expect(client.host.addRoutes(['8.8.8.8/32'])).resolves.toBeUndefined();
  });

  it('fails as the daemon says where there is no HNS', async () => {
    await connect('hns-get-network-error');
    const error: unknown = await client.host
      .hnsNetwork({ name: 'nat' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WinsClientError);
    expect(error).toMatchObject({ code: 'invalidRequest', method: 'GetNetwork' });
  });
});

describe('the messages of the host calls', () => {
  it('have the octets that the Go client sends', () => {
    const ask: NetworkGetRequest = { options: { $case: 'name', value: 'nat' } };
    expect(Buffer.from(NetworkGetRequest.encode(ask).finish())).toEqual(
      Buffer.from('12036e6174', 'hex'),
    );
  });
});
