import { posixFileTrust } from '@wins/trusted-files';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { PeerSources, type NamedSourceStatus, type SourceSettings } from './peer-sources.js';

const LABELS = 'io.rancher.network.per_host_subnet';
const HOSTS = ['h-a', 'h-b'].map((uuid, index) => ({
  ...{ uuid, environment_uuid: 'e1', agent_ip: `172.16.0.${index + 1}` },
  labels: { [`${LABELS}.subnet`]: `10.42.${index + 1}.0/24` },
}));
const B = { id: 'h-b', subnet: '10.42.2.0/24', nextHop: '172.16.0.2' };

describe('the sources of other hosts', () => {
  let folder: string;
  let sources: PeerSources | undefined;
  const warnings: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('/hosts')) response.end(JSON.stringify(HOSTS));
    else if (url.endsWith('/self/host/uuid')) response.end('"h-a"');
    // A long poll ends with its connection.
    else if (!url.includes('wait=true')) response.end('"v1"');
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-sources-'));
  });
  afterEach(async () => {
    await sources?.close();
    rmSync(folder, { recursive: true });
    expect(warnings.splice(0)).toEqual([]);
  });
  const metadata = (hostUuid = 'h-a') => ({
    ...{ hostUuid, environmentUuid: 'e1' },
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  function start(settings: SourceSettings) {
    const told = new EventEmitter();
    const one = new PeerSources(
      {
        ...{ folder: path.join(folder, 'state'), trust: posixFileTrust() },
        onChange: () => told.emit('change'),
        onWarning: (problem) => warnings.push(problem),
      },
      settings,
    );
    sources = one;
    const until = async (wanted: (statuses: readonly NamedSourceStatus[]) => boolean) => {
      while (!wanted(one.statuses)) await once(told, 'change');
    };
    return { one, until };
  }
  const file = () => path.join(folder, 'state', 'host-network-metadata.json');

  it('are none by default, and hold nothing', () => {
    const { one } = start({});
    expect([one.statuses, one.peers, one.holds]).toEqual([[], [], false]);
  });

  it('hold what is recorded until they have told, and forget all when they are turned off', async () => {
    const { one, until } = start({ metadata: metadata() });
    expect([one.peers, one.holds]).toEqual([[], true]);
    await until(([status]) => status?.state === 'current');
    expect([one.peers, one.holds, existsSync(file())]).toEqual([[B], false, true]);

    one.configure({ metadata: metadata('h-z') });
    await until(([status]) => status?.state === 'stale');
    expect([one.peers, one.holds]).toEqual([[], true]);

    one.configure({});
    expect([one.statuses, one.peers, one.holds]).toEqual([[], [], false]);
    await one.close();
    expect(existsSync(file())).toBe(false);
  });

  it('say that the agent has no API server to ask for nodes', async () => {
    const { one, until } = start({ nodes: { isStrict: true } });
    await until(([status]) => status?.state === 'stale');
    expect(one.statuses).toMatchObject([
      { source: 'nodes', problem: expect.stringMatching(/systemagent\.remoteEnabled/) as string },
    ]);
  });
});
