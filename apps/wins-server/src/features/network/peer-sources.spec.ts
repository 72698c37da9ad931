import { createCertificateAuthority } from '@wins/base/testing';
import { posixFileTrust } from '@wins/trusted-files';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { SourceSet, type NamedSourceStatus } from '@wins/host-network';
import { wantedSources, type SourceName, type SourceSettings } from './peer-sources.js';

const LABELS = 'io.rancher.network.per_host_subnet';
const HOSTS = ['h-a', 'h-b'].map((uuid, index) => ({
  uuid,
  environment_uuid: 'e1',
  agent_ip: `172.16.0.${index + 1}`,
  labels: { [`${LABELS}.subnet`]: `10.42.${index + 1}.0/24` },
}));
const B = { id: 'h-b', subnet: '10.42.2.0/24', nextHop: '172.16.0.2' };

const NODES = {
  kind: 'NodeList',
  metadata: { resourceVersion: '7' },
  items: ['h-a', 'h-b'].map((name, index) => ({
    metadata: { name },
    spec: { podCIDR: `10.42.${index + 1}.0/24` },
    status: { addresses: [{ type: 'InternalIP', address: `172.16.0.${index + 1}` }] },
  })),
};

describe('the sources of other hosts', () => {
  let folder: string;
  let sources: SourceSet<SourceName> | undefined;
  const warnings: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/api/v1/nodes?limit=')) response.end(JSON.stringify(NODES));
    else if (url.endsWith('/hosts')) response.end(JSON.stringify(HOSTS));
    else if (url.endsWith('/self/host/uuid')) response.end('"h-a"');
    // Leaves a long poll or a watch open until its connection ends.
    else if (!/wait=true|watch=true/.test(url)) response.end('"v1"');
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
    hostUuid,
    environmentUuid: 'e1',
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  function start(settings: SourceSettings) {
    const told = new EventEmitter();
    const parts = {
      folder: path.join(folder, 'state'),
      trust: posixFileTrust(),
      ownAddresses: () => new Set(['172.16.0.1']),
      onChange: () => told.emit('change'),
      onWarning: (problem: string) => void warnings.push(problem),
    };
    const one = new SourceSet<SourceName>(parts);
    const configure = (next: SourceSettings) => one.configure(wantedSources(next, parts));
    configure(settings);
    sources = one;
    const until = async (wanted: (statuses: readonly NamedSourceStatus[]) => boolean) => {
      while (!wanted(one.statuses)) await once(told, 'change');
    };
    return { one, until, configure };
  }
  const file = () => path.join(folder, 'state', 'host-network-metadata.json');

  it('are none by default, and hold nothing', () => {
    const { one } = start({});
    expect([one.statuses, one.peers, one.holds]).toEqual([[], [], false]);
  });

  it('hold what is recorded until they have told, and forget all when they are turned off', async () => {
    const { one, until, configure } = start({ metadata: metadata() });
    expect([one.peers, one.holds]).toEqual([[], true]);
    await until(([status]) => status?.state === 'current');
    expect([one.peers, one.holds, existsSync(file())]).toEqual([[B], false, true]);

    configure({ metadata: metadata('h-z') });
    await until(([status]) => status?.state === 'stale');
    expect([one.peers, one.holds]).toEqual([[], true]);

    configure({});
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

  it('have the nodes of a kubeconfig, of which only the authority that it has is trusted', async () => {
    const { port } = server.address() as AddressInfo;
    const kubeconfig = path.join(folder, 'nodes.yaml');
    const write = (cluster: object): void => {
      const content = {
        'current-context': 'c',
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'c', user: { token: 'secret-token' } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      };
      writeFileSync(kubeconfig, JSON.stringify(content), { mode: 0o600 });
    };
    write({ server: `http://127.0.0.1:${port}` });
    const { one, until, configure } = start({ nodes: { kubeconfig, isStrict: false } });
    await until(([status]) => status?.state === 'current');
    expect(one.peers).toEqual([B]);

    const authority = createCertificateAuthority('authority');
    const impostor = createCertificateAuthority('impostor').issue('cluster', ['127.0.0.1']);
    const secured = createSecureServer(impostor, (_request, response) => response.end());
    try {
      await once(secured.listen(0, '127.0.0.1'), 'listening');
      const at = `https://127.0.0.1:${(secured.address() as AddressInfo).port}`;
      const data = Buffer.from(authority.cert).toString('base64');
      write({ server: at, 'certificate-authority-data': data });
      configure({});
      configure({ nodes: { kubeconfig, isStrict: false } });
      await until(([status]) => status?.state === 'stale');
      expect(one.statuses[0]?.problem).toMatch(/from an unknown authority/);
      // A warning would say that the authorities of the system are tried, too.
      expect(warnings).toEqual([]);
    } finally {
      secured.closeAllConnections();
      await new Promise((resolve) => secured.close(resolve));
    }
  });

  it('have the nodes of the cluster that the agent is connected to', async () => {
    const { port } = server.address() as AddressInfo;
    const kubeConfig = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'c', user: { token: 'secret-token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    });
    const connectionInfoFile = path.join(folder, 'connection.json');
    const info = { kubeConfig, namespace: 'n', secretName: 's' };
    writeFileSync(connectionInfoFile, JSON.stringify(info), { mode: 0o600 });
    const own = { subnet: '10.42.1.0/24', gateway: '10.42.1.1' };
    const { one, until, configure } = start({
      nodes: { connectionInfoFile, isStrict: false },
      own,
    });
    await until(([status]) => status?.state === 'current');
    expect(one.peers).toEqual([B]);

    configure({ nodes: { connectionInfoFile, isStrict: false } });
    configure({ nodes: { connectionInfoFile, isStrict: false }, own: { ...own, subnet: 'x' } });
    await until(([status]) => status?.state === 'stale');
    expect(one.statuses[0]?.problem).toMatch(/the subnet of this node is not x/);
    expect([one.peers, one.holds]).toEqual([[B], true]);
  });
});
