import type { ClientIdentity } from '@wins/base';
import type { HostNetworkStatus } from '@wins/host-network';
import type { WinsClient } from '@wins/wins-api';
import { hostNetworkServiceDefinition } from '@wins/wins-api/contract';
import { AskedAs } from '../../testing/asked-as.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { createNetworkService, type KeptNetwork } from './network-service.js';

const { status, plan, apply, teardown } = hostNetworkServiceDefinition;
const ROUTE = { destination: '10.1.0.0/16', gateway: '192.0.2.7', interface: 'e0', metric: 256 };
const STATUS: HostNetworkStatus = {
  ...{ kind: 'partial', orphans: ['10.9.0.0/16'], problems: ['no'], isDown: false },
  standings: [{ ...ROUTE, kind: 'route', state: 'failed', detail: 'not permitted' }],
};

describe('the service of the network of the host', () => {
  const asked = new AskedAs();
  afterAll(() => asked[Symbol.dispose]());
  const { audit, decisions } = asked;
  const kept: KeptNetwork['kept'] = {
    status: STATUS,
    plan: (options) =>
      Promise.resolve({
        steps: [
          { op: options?.isDown === true ? 'remove' : 'add', route: ROUTE, reason: 'it is wanted' },
        ],
        ...{ record: [], standings: [], orphans: [], isLimited: true },
      }),
    apply: () => Promise.resolve({ ...STATUS, kind: 'settled' }),
    teardown: () => Promise.resolve({ ...STATUS, isDown: true }),
  };
  const sources: KeptNetwork['sources'] = {
    statuses: [
      {
        ...{ source: 'metadata', state: 'stale', version: 'v7', ageMs: 61_900, problem: 'refused' },
        sinceMs: 70_000,
        items: [{ id: 'h-b', subnet: '10.1.0.0/16', nextHop: '192.0.2.7' }],
        ...{ skipped: [{ id: 'h-c', code: 'badSubnet' }], skippedCount: 9 },
        ...{ isLimited: true, isDoubted: false },
        duplicates: [{ id: 'h-a', of: 'h-b', isStale: true }],
      },
    ],
  };
  const seen: boolean[] = [];
  const relays = {
    standings: [
      {
        ...({ proto: 'udp', listen: '0.0.0.0:53', to: '10.1.0.2:53', state: 'busy' } as const),
        ...{ detail: 'another program listens there', open: 0 },
      },
    ],
    setDown: (isDown: boolean) => void seen.push(isDown),
  };
  const as = <T>(client: ClientIdentity, question: (daemon: WinsClient) => Promise<T>) =>
    asked.ask(
      client,
      (server, callers) =>
        server.addService(
          hostNetworkServiceDefinition,
          createNetworkService({
            ...{ callers, audit },
            network: { running: { kept, sources }, reason: '', require: () => ({ kept, sources }) },
            ports: { running: { relays, sources: [] } },
          }),
        ),
      question,
    );

  it('answers administrators of the host alone (A114)', async () => {
    await as(CONTAINER, async (daemon) => {
      const refused = { code: 'refused', reason: 'notAdministrator' };
      await expect(daemon.call(status, {})).rejects.toMatchObject(refused);
      await expect(daemon.call(plan, { Teardown: false })).rejects.toMatchObject(refused);
      await expect(daemon.call(apply, {})).rejects.toMatchObject(refused);
      await expect(daemon.call(teardown, {})).rejects.toMatchObject(refused);
    });
    expect(decisions).toEqual([]);
  });

  it('says how each route stands, what would be done, and records what is done', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      expect(await daemon.call(status, {})).toMatchObject({
        ...{ On: true, State: 'partial', Down: false, Problems: ['no'], Orphans: ['10.9.0.0/16'] },
        Routes: [{ Destination: '10.1.0.0/16', State: 'failed', Detail: 'not permitted' }],
        Sources: [
          {
            ...{ Source: 'metadata', State: 'stale', Version: 'v7', AgeSeconds: 61, Peers: 1 },
            ...{ SkippedCount: 9, Skipped: [{ Id: 'h-c', Code: 'badSubnet' }], Limited: true },
            ...{ Doubted: false, Problem: 'refused' },
            Duplicates: [{ Id: 'h-a', Of: 'h-b', Stale: true }],
          },
        ],
        Ports: [{ Protocol: 'udp', Listen: '0.0.0.0:53', To: '10.1.0.2:53', State: 'busy' }],
      });
      const step = { Destination: '10.1.0.0/16', Gateway: '192.0.2.7', Reason: 'it is wanted' };
      expect(await daemon.call(plan, { Teardown: false })).toMatchObject({
        ...{ Limited: true, Steps: [{ ...step, Op: 'add' }] },
      });
      expect(await daemon.call(plan, { Teardown: true })).toMatchObject({
        Steps: [{ ...step, Op: 'remove' }],
      });
      expect(decisions).toEqual([]);
      expect(await daemon.call(apply, {})).toMatchObject({ State: 'settled' });
      expect(await daemon.call(teardown, {})).toMatchObject({ Down: true });
    });
    expect(seen).toEqual([false, true]);
    expect(decisions).toMatchObject([
      { action: 'hostNetworkApply', verdict: 'allowed' },
      { action: 'hostNetworkTeardown', verdict: 'allowed' },
    ]);
  });
});
