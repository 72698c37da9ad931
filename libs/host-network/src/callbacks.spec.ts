import { failingCallbacks } from '@wins/base/testing';
import { LeapingClock } from '@wins/net/testing';
import { posixFileTrust } from '@wins/trusted-files';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  HostNetwork,
  metadataFeed,
  nodeFeed,
  routeRecords,
  Source,
  SourceSet,
  type DesiredPeer,
  type Feed,
  type FeedListener,
  type HostNetworkOptions,
  type NodeListener,
  type SourceOptions,
} from './index.js';
import { MetadataServer } from './testing/metadata-server.js';
import { ModelHost } from './testing/model-host.js';

const INTERFACE = { id: 'e1', name: 'eth1', metric: 0, addresses: ['172.16.0.2/24'] };
const ROUTE = { destination: '10.1.0.0/16', gateway: '172.16.0.3', metric: 256 };
const PEER: DesiredPeer = { id: 'b', subnet: '10.42.1.0/24', nextHop: '172.16.0.3' };
const ignore = (): void => undefined;
const newHost = (): ModelHost => new ModelHost('linux', [INTERFACE], []);

/** Runs `callback` once the feed has reported `PEER`. */
const feedThen = (settled: () => unknown): Feed => ({
  follow: async (listener, { signal }) => {
    await listener.onSnapshot({
      version: '1',
      items: [PEER],
      skipped: [],
      skippedCount: 0,
      isLimited: false,
    });
    settled();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  },
});

async function apply(options: Partial<HostNetworkOptions>, host = newHost()): Promise<void> {
  const network = new HostNetwork(
    {
      host,
      records: host,
      beforeSteps: () => Promise.resolve(),
      onStatus: ignore,
      onWarning: ignore,
      ...options,
    },
    { routes: [ROUTE] },
  );
  expect(await network.apply()).toMatchObject({ kind: 'settled', problems: [] });
  await network.close();
  expect(host.routes).toMatchObject([ROUTE]);
}

async function follow(options: Partial<SourceOptions>): Promise<void> {
  const feed = new EventEmitter();
  const reported = once(feed, 'reported');
  await using source = new Source({
    feed: feedThen(() => feed.emit('reported')),
    onChange: ignore,
    onWarning: ignore,
    ...options,
  });
  await reported;
  expect(source.status).toMatchObject({ state: 'current', items: [PEER], problem: '' });
}

/** Follows a feed with a listener that calls `callback`, up to the second snapshot. */
async function followFeed(
  feed: Feed,
  listener: Partial<FeedListener>,
  change: () => void = ignore,
): Promise<void> {
  const stop = new AbortController();
  let snapshots = 0;
  const following = feed.follow(
    {
      onSnapshot: () => {
        snapshots += 1;
        if (snapshots === 1) change();
        if (snapshots === 2) stop.abort();
        return Promise.resolve(0);
      },
      onContact: ignore,
      onProblem: ignore,
      ...listener,
    },
    { signal: stop.signal },
  );
  await following.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  expect(snapshots).toBe(2);
}

/** Reports this host and a neighbour, which then changes. */
const nodes = (): Feed => {
  const nodeOf = (name: string, host: number, subnet: string) => ({
    metadata: { name },
    spec: { podCIDR: subnet },
    status: { addresses: [{ type: 'InternalIP', address: `172.16.0.${host}` }] },
  });
  return nodeFeed({
    ownAddresses: () => new Set(['172.16.0.1']),
    hostName: 'a',
    clock: new LeapingClock(),
    reader: {
      follow: async <Item>(listener: NodeListener<Item>, { signal }: { signal: AbortSignal }) => {
        const own = listener.read(nodeOf('a', 1, '10.42.1.0/24'));
        listener.onAll([own, listener.read(nodeOf('b', 2, '10.42.2.0/24'))], '1');
        listener.onState({ kind: 'connected' });
        listener.onContact();
        listener.onChange('ADDED', listener.read(nodeOf('c', 3, '10.42.3.0/24')));
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    },
  });
};

describe('the network of a host is maintained when a callback fails:', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(
    failingCallbacks({
      'HostNetwork.onStatus': (callback) => apply({ onStatus: callback }),
      'HostNetwork.onWarning': (callback) => {
        const host = newHost();
        const watch = () => Promise.reject(new Error('no more handles'));
        return apply({ host: Object.assign(host, { watch }), onWarning: callback }, host);
      },
      'routeRecords.onDamaged': async (callback) => {
        const file = path.join(folder, 'routes.json');
        writeFileSync(file, '{', { mode: 0o600 });
        const trust = posixFileTrust();
        const records = routeRecords({ host: newHost(), path: file, trust, onDamaged: callback });
        expect(await records.read()).toEqual([]);
      },
      'Source.onChange': (callback) => follow({ onChange: callback }),
      'Source.onWarning': (callback) => {
        const read = () => Promise.reject(new Error('no file'));
        const write = () => Promise.reject(new Error('no folder'));
        return follow({ onWarning: callback, lastGood: { read, write } });
      },
      'FeedListener.onContact of metadataFeed': async (callback) => {
        await using server = await MetadataServer.start([
          { uuid: 'h-a', environment_uuid: 'e1', agent_ip: '172.16.0.1' },
        ]);
        const { address } = server;
        const clock = new LeapingClock();
        const feed = metadataFeed({ address, hostUuid: 'h-a', environmentUuid: 'e1', clock });
        await followFeed(feed, { onContact: callback }, () => server.publish());
      },
      'FeedListener.onContact of nodeFeed': (callback) =>
        followFeed(nodes(), { onContact: callback }),
      'FeedListener.onProblem of nodeFeed': (callback) =>
        followFeed(nodes(), { onProblem: callback }),
      'SourceSet.onChange and onWarning': async (callback) => {
        const feed = new EventEmitter();
        const reported = once(feed, 'reported');
        const sources = new SourceSet({
          // A file in place of a folder, so that no report can be kept.
          folder: path.join(folder, 'file', 'state'),
          trust: posixFileTrust(),
          onChange: callback,
          onWarning: callback,
        });
        writeFileSync(path.join(folder, 'file'), '');
        const open = () => ({ feed: feedThen(() => feed.emit('reported')), origin: 'here' });
        sources.configure(new Map([['nodes', { settings: {}, open }]]));
        await reported;
        expect(sources.peers).toEqual([PEER]);
        await sources.close();
      },
    }),
  )('%s', (_name, play) => play());
});
