import type { HostNetworkStatus } from '@wins/host-network';
import type { NamedSource } from '../host-network/source-conditions.js';
import { networkFacts } from './network-facts.js';

const STATUS: HostNetworkStatus = {
  kind: 'partial',
  orphans: ['10.9.0.0/16'],
  problems: ['no'],
  isDown: false,
  standings: [
    {
      kind: 'route',
      destination: '10.1.0.0/16',
      gateway: '192.0.2.7',
      interface: 'e0',
      metric: 256,
      state: 'failed',
      detail: 'not permitted',
    },
  ],
};

const SOURCE: NamedSource = {
  source: 'metadata',
  state: 'stale',
  version: 'v7',
  ageMs: 61_900,
  sinceMs: 70_000,
  problem: 'refused',
  items: [{ id: 'h-b' }],
  skipped: [{ id: 'h-c', code: 'badSubnet' }],
  skippedCount: 9,
  isLimited: true,
  isDoubted: false,
  duplicates: [{ id: 'h-a', of: 'h-b', isStale: true }],
};

describe('the facts of the network', () => {
  it('say how each route stands, and how each source does, of which they count the hosts', () => {
    const { items: _items, ...source } = SOURCE;
    expect(networkFacts(STATUS, [SOURCE])).toEqual({
      state: 'partial',
      down: false,
      routes: STATUS.standings,
      orphans: ['10.9.0.0/16'],
      problems: ['no'],
      sources: [{ ...source, count: 1 }],
    });
  });
});
