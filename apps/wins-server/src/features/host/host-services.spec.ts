import { status } from '@grpc/grpc-js';
import type { HostSystem, NetworkSelector, ClientIdentity } from '@wins/base';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import {
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  routeServiceDefinition,
} from '@wins/wins-api/contract';
import {
  AnswerReader,
  recordedClient,
  recordedDaemon,
  type Answer,
  type RecordedCommand,
} from '@wins/wins-api/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resourceTable } from '../../kernel/admission/resources.js';
import { Shares } from '../../kernel/admission/shares.js';
import { FeatureError } from '../../kernel/feature-error.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { HostCallGate, type HostDecision } from '../../kernel/rpc/host-call-gate.js';
import { hostServices } from './feature.js';
import { createRouteService } from '../routes/feature.js';

const FRAME_HEADER_BYTES = 9;
const DATA_FRAME = 0;

/** The host is in one network, without a gateway. */
const OWN = {
  networks: [{ bytes: Uint8Array.of(10, 1, 7, 0), prefix: 24 }],
  gateways: [],
};

const OTHER = { ...CONTAINER, key: 'container:other' };

class RecordedHost implements HostSystem {
  readonly asked: unknown[] = [];
  gate: Promise<unknown> = Promise.resolve();

  version() {
    return Promise.resolve({
      currentMajorVersionNumber: '10',
      currentMinorVersionNumber: '0',
      currentBuildNumber: '18362',
      ubr: '0',
      releaseId: '',
      buildLabEx: '',
      currentBuild: '18362',
    });
  }

  adapter(which?: NetworkSelector) {
    this.asked.push(which);
    return Promise.resolve({
      interfaceIndex: '4',
      gatewayAddress: '192.0.2.1',
      subnetCidr: '192.0.2.0/24',
      hostName: 'vm',
      addressCidr: '192.0.2.2/32',
    });
  }

  hnsNetwork(which: NetworkSelector) {
    this.asked.push(which);
    return 'name' in which
      ? Promise.reject(new FeatureError('unavailable', 'there is no HNS here'))
      : Promise.resolve({ id: 'x', type: 'l2bridge', managementIp: '', subnets: [] });
  }

  routes() {
    const route = { destinationCidr: '::/0', gateway: 'fd00::1', interfaceIndex: 4, metric: 5 };
    return Promise.resolve([route]);
  }

  async addRoutes(addresses: readonly string[]) {
    this.asked.push(['add', ...addresses]);
    await this.gate;
  }

  async removeRoutes(addresses: readonly string[]) {
    this.asked.push(['remove', ...addresses]);
    await this.gate;
  }
}

describe('the services of the host', () => {
  let folder: string;
  let address: string;
  let host: RecordedHost;
  let records: HostDecision[];
  let auditFails: boolean;
  let granted: readonly string[];
  /** An allowed call waits until the promise of this function resolves. */
  let recording: (() => Promise<void>) | undefined;
  let served: AsyncDisposable;
  let client: WinsClient;
  let asks: ClientIdentity;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-server-'));
    address = path.join(folder, 's');
    host = new RecordedHost();
    records = [];
    auditFails = false;
    recording = undefined;
    granted = ['8.8.8.8', '10.1.0.0/16', '192.0.2.0/24', '2001:db8::/32'];
    asks = { ...CONTAINER, description: {} };
    served = await serveCalls(
      address,
      (server, connections) => {
        const audit = (record: HostDecision) => {
          if (auditFails) throw new Error('the audit log is full');
          records.push(record);
          return record.verdict === 'allowed' ? recording?.() : undefined;
        };
        const calls = new HostCallGate({
          host,
          connections,
          audit,
          calls: new Shares(resourceTable(1024).hostCalls),
        });
        server.addService(hostServiceDefinition, hostServices(calls).host);
        server.addService(networkServiceDefinition, hostServices(calls).network);
        server.addService(hnsServiceDefinition, hostServices(calls).hns);
        server.addService(
          routeServiceDefinition,
          createRouteService(
            calls,
            () => granted,
            () => OWN,
          ),
        );
      },
      undefined,
      () => asks,
    );
    client = createWinsClient({ address, clientName: 'spec' });
  });
  afterEach(async () => {
    await client.close();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function isAsked(): Promise<void> {
    while (host.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  async function replay(command: RecordedCommand): Promise<Answer> {
    const reader = new AnswerReader([1]);
    const socket = connect(address);
    socket.on('data', (chunk) => reader.feed(chunk));
    socket.write(recordedClient(command));
    const answer = await reader.ended(1);
    reader.close();
    socket.destroy();
    return answer;
  }

  /** Returns the body of the Go daemon's answer: its DATA frames. */
  function recordedBody(command: RecordedCommand): Buffer {
    const octets = recordedDaemon(command);
    const body: Buffer[] = [];
    for (let at = 0; at < octets.length;) {
      const end = at + FRAME_HEADER_BYTES + octets.readUIntBE(at, 3);
      if (octets[at + 3] === DATA_FRAME) body.push(octets.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    return Buffer.concat(body);
  }

  it.each<RecordedCommand>(['host-get-version', 'network-get', 'route-add'])(
    'answer a Go client byte for byte as the Go daemon did: %s',
    async (command) => {
      const { body, status } = await replay(command);
      expect(status).toBe(0);
      expect(body.length).toBeGreaterThan(0);
      expect(body).toEqual(recordedBody(command));
    },
  );

  it('tell a Go client that there is no HNS', async () => {
    expect(await replay('hns-get-network-error')).toMatchObject({
      status: 9,
      message: 'there is no HNS here',
    });
    expect(host.asked).toEqual([{ name: 'nat' }]);
  });

  it('ask for what the client chose, in canonical form', async () => {
    await client.host.adapter();
    await client.host.adapter({ name: '' });
    await client.host.adapter({ name: 'vEthernet (nat)' });
    await client.host.adapter({ address: 'FD00:0::2' });
    await client.host.hnsNetwork({ address: '172.17.0.0/16' });
    expect(host.asked).toEqual([
      undefined,
      undefined,
      { name: 'vEthernet (nat)' },
      { address: 'fd00::2' },
      { address: '172.17.0.0/16' },
    ]);
  });

  it('tell a network without subnets and management address', async () => {
    const network = await client.host.hnsNetwork({ address: '172.17.0.1' });
    expect(network).toEqual({ id: 'x', type: 'l2bridge', subnets: [], managementIp: '' });
  });

  it('change and list routes', async () => {
    await client.host.addRoutes(['8.8.8.8/32', '2001:DB8::1']);
    await client.host.removeRoutes(['10.1.2.3/24']);
    expect(host.asked).toEqual([
      ['add', '8.8.8.8', '2001:db8::1'],
      ['remove', '10.1.2.0/24'],
    ]);
    expect(await client.host.routes()).toEqual([
      { destinationCidr: '::/0', gateway: 'fd00::1', interfaceIndex: 4, metric: 5 },
    ]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['an address that is none', () => client.host.adapter({ address: 'eth0' })],
    ['a name with a line end', () => client.host.adapter({ name: 'a\nb' })],
    ['a long name', () => client.host.adapter({ name: 'x'.repeat(257) })],
    ['no choice of a network', () => client.host.hnsNetwork({ name: '' })],
    ['no route', () => client.host.addRoutes([])],
    ['too many routes', () => client.host.addRoutes(Array.from({ length: 257 }, () => '8.8.8.8'))],
    ['the default route', () => client.host.removeRoutes(['0.0.0.0/0'])],
  ])('refuse %s, without asking the system', async (_what, call) => {
    await expect(call()).rejects.toMatchObject({
      code: 'invalidRequest',
      reason: 'invalidArgument',
    });
    expect(host.asked).toEqual([]);
    expect(records).toMatchObject([{ verdict: 'refused', code: 'invalidArgument' }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a route that the config does not grant', () => client.host.addRoutes(['9.9.9.9'])],
    ['its removal', () => client.host.removeRoutes(['9.9.9.9'])],
    ['a route to what the host is in', () => client.host.addRoutes(['10.1.0.0/16'])],
  ])('refuse %s, and name the rule', async (_what, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'refused', reason: 'routeNotGranted' });
    expect(host.asked).toEqual([]);
    expect(records).toMatchObject([{ verdict: 'refused', code: 'notGranted' }]);
  });

  it('go by the grants of the config that is in force', async () => {
    granted = [];
    await expect(client.host.addRoutes(['8.8.8.8'])).rejects.toMatchObject({ code: 'refused' });
    granted = ['8.0.0.0/8'];
    await client.host.addRoutes(['8.8.8.8']);
    expect(host.asked).toEqual([['add', '8.8.8.8']]);
  });

  it('are audited: who, what, and how it ended', async () => {
    await client.host.addRoutes(['8.8.8.8']);
    await client.host.hnsNetwork({ name: 'nat' }).catch(() => undefined);
    const who = { requester: 'pipe:1', clientSays: 'spec', client: {} };
    expect(records).toEqual([
      { action: 'addRoutes', verdict: 'allowed', ...who, subject: ['8.8.8.8'], subjectCount: 1 },
      { action: 'getHnsNetwork', verdict: 'allowed', ...who, subject: ['nat'], subjectCount: 1 },
      {
        action: 'getHnsNetwork',
        verdict: 'failed',
        ...who,
        subject: ['nat'],
        subjectCount: 1,
        code: 'unavailable',
      },
    ]);
  });

  it('are not made when they cannot be audited', async () => {
    auditFails = true;
    await expect(client.host.addRoutes(['8.8.8.8'])).rejects.toMatchObject({ code: 'internal' });
    await expect(client.host.adapter()).rejects.toMatchObject({ code: 'internal' });
    expect(host.asked).toEqual([]);
  });

  it('change nothing before the record of it is written, and nothing at all without it (A47)', async () => {
    type Settle = { readonly written: () => void; readonly failed: (error: Error) => void };
    const nextRecording = () =>
      new Promise<Settle>((begun) => {
        recording = () => new Promise<void>((written, failed) => begun({ written, failed }));
      });
    let begun = nextRecording();
    const refused = client.host.addRoutes(['8.8.8.8']).catch((error: unknown) => error);
    (await begun).failed(new FeatureError('auditUnavailable', 'the disk is full'));
    expect(await refused).toMatchObject({ code: 'unavailable', reason: 'auditUnavailable' });
    expect(host.asked).toEqual([]);
    expect(records.at(-1)).toMatchObject({ verdict: 'refused', code: 'auditUnavailable' });

    begun = nextRecording();
    const added = client.host.addRoutes(['8.8.8.8']);
    const { written } = await begun;
    expect(host.asked).toEqual([]);
    written();
    await added;
    expect(host.asked).toEqual([['add', '8.8.8.8']]);
  });

  it('are audited in bounded records', async () => {
    const addresses = Array.from({ length: 10_000 }, () => 'x'.repeat(90));
    await client.host.addRoutes(addresses).catch(() => undefined);
    expect(records[0]).toMatchObject({
      subject: Array(64).fill('x'.repeat(64)) as string[],
      subjectCount: 10_000,
    });
  });

  it('change one thing at a time, and the calls of a client beyond its share wait for their turn', async () => {
    let open: () => void = () => undefined;
    host.gate = new Promise<void>((resolve) => (open = resolve));
    const left = new AbortController();
    const first = client.host.addRoutes(['192.0.2.1']);
    // Calls may overtake each other until the client is connected.
    await isAsked();
    const second = client.host.addRoutes(['192.0.2.2'], { signal: left.signal });
    const others = Array.from({ length: 30 }, (_, index) =>
      client.host.addRoutes([`192.0.2.${index + 3}`]),
    );
    const waiting = client.host.version();
    // The answer to a later call proves that the daemon has read what came before. No service here implements `info`.
    const isRead = () =>
      expect(client.info()).rejects.toMatchObject({ grpcCode: status.UNIMPLEMENTED });
    await isRead();
    left.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    await isRead();
    expect(host.asked).toEqual([['add', '192.0.2.1']]);
    open();
    await Promise.all([first, ...others]);
    expect(host.asked).toHaveLength(31);
    expect(host.asked).not.toContainEqual(['add', '192.0.2.2']);
    await expect(waiting).resolves.toMatchObject({ ubr: '0' });
  });

  it.each([
    ['many addresses', (of: WinsClient) => of.host.addRoutes(Array(10_000).fill('8.8.8.8'))],
    ['a long name', (of: WinsClient) => of.host.adapter({ name: 'x'.repeat(100_000) })],
  ])('do not let a call with %s wait for its turn', async (_what, ask) => {
    let open: () => void = () => undefined;
    host.gate = new Promise<void>((resolve) => (open = resolve));
    const others = Array.from({ length: 60 }, () => client.host.addRoutes(['192.0.2.1']));
    await isAsked();
    await expect(ask(client)).rejects.toMatchObject({ code: 'invalidRequest' });
    expect(records.at(-1)).toMatchObject({ verdict: 'refused', code: 'invalidArgument' });
    open();
    await Promise.all(others);
  });

  it('answer a client while another one has as many calls under way as it may', async () => {
    let open: () => void = () => undefined;
    host.gate = new Promise<void>((resolve) => (open = resolve));
    const hostile = Array.from({ length: 60 }, () => client.host.addRoutes(['192.0.2.1']));
    await isAsked();
    asks = OTHER;
    await using other = createWinsClient({ address });
    await expect(other.host.version()).resolves.toMatchObject({ ubr: '0' });
    open();
    await Promise.all(hostile);
    expect(host.asked).toHaveLength(60);
  });
});
