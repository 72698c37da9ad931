import type { HostNetworkStatus } from '@wins/host-network';
import type { NamedSource } from '../host-network/source-conditions.js';
import { networkConditions } from './network-conditions.js';

type Standing = HostNetworkStatus['standings'][number];

const standing = (state: Standing['state'], detail = ''): Standing => ({
  kind: 'route',
  destination: '10.1.0.0/16',
  state,
  detail,
  gateway: '',
  interface: '',
  metric: 0,
});
const source = (more: Partial<NamedSource>): NamedSource => ({
  source: 'metadata',
  state: 'current',
  version: '',
  items: [{}, {}],
  ageMs: 0,
  sinceMs: 0,
  isDoubted: false,
  isLimited: false,
  problem: '',
  skipped: [],
  skippedCount: 0,
  ...more,
});

function look(status: Partial<HostNetworkStatus>, ...sources: readonly NamedSource[]) {
  const nothing = { standings: [], orphans: [], problems: [], isDown: false };
  const reported = networkConditions({ kind: 'settled', ...nothing, ...status }, sources);
  advices = reported.map(({ advice = '' }) => advice);
  return reported.map(({ level, found }) => `${level}: ${found}`);
}

let advices: readonly string[] = [];

describe('of the network of the host the daemon reports', () => {
  it('that routes stand as they are wanted', () => {
    const standings = [standing('applied'), standing('foreign')];
    expect(look({ standings })).toEqual(['ok: 2 routes are in place']);
    const bridge = { ...standing('applied'), kind: 'bridge' } as Standing;
    expect(look({ standings: [...standings, bridge] })).toEqual([
      'ok: 2 routes, and the network of containers, are in place',
    ]);
  });

  it('that it was taken down, or has not begun', () => {
    expect(look({ isDown: true })).toEqual(['warning: it was torn down by hand']);
    expect(look({ kind: 'starting' })).toEqual(['warning: it is starting']);
  });

  it('what stays when it was taken down, and how that is tried again', () => {
    const problems = ['wins-subnet: 2 containers are attached'];
    expect(look({ kind: 'partial', isDown: true, problems })).toEqual([
      'warning: it was torn down by hand',
      'problem: wins-subnet: 2 containers are attached',
    ]);
    expect(advices[1]).toContain('"wins srv network teardown"');
  });

  it('which routes failed, are refused, wait or belong to nobody, each first three', () => {
    const standings = [
      standing('conflict', 'in the way'),
      standing('rejected', 'the host itself is in it'),
      standing('waiting', 'no default route'),
    ];
    const problems = ['a', 'b', 'c', 'd', 'e'];
    expect(look({ kind: 'partial', standings, problems, orphans: ['10.9.0.0/16'] })).toEqual([
      'problem: a; b; c; and 2 more',
      'problem: 10.1.0.0/16: in the way; 10.1.0.0/16: the host itself is in it',
      'warning: 10.1.0.0/16: no default route',
      'warning: routes are marked as made by wins, but have no known owner: 10.9.0.0/16',
    ]);
  });

  it('what each source of other hosts does not tell, or tells wrongly', () => {
    expect(
      look(
        {},
        source({}),
        source({ state: 'degraded', ageMs: 130_900, problem: 'refused' }),
        source({ source: 'nodes', state: 'starting', ageMs: undefined }),
        source({ isDoubted: true, isLimited: true }),
        source({ skippedCount: 2, skipped: [{ id: 'h-b', code: 'badSubnet' }] }),
      ),
    ).toEqual([
      'ok: 0 routes are in place',
      'ok: metadata: 2 other hosts',
      'problem: metadata: 2 other hosts kept, and it last answered 130 s ago: refused',
      'warning: nodes: it has not answered yet',
      'warning: metadata: 2 other hosts kept, although most are missing in its latest snapshot',
      'warning: metadata: it has more other hosts than the daemon accepts',
      'ok: metadata: 2 other hosts',
      'warning: metadata: 2 of its elements are skipped: h-b: badSubnet',
    ]);
  });

  it('which hosts left stale objects, with the command that removes them, or share an address', () => {
    const duplicate = (id: string, of: string, isStale: boolean) => ({ id, of, isStale });
    const duplicates = [
      duplicate('old-a', 'a', true),
      duplicate('x', 'y', false),
      ...['b', 'c', 'd'].map((name) => duplicate(`old-${name}`, name, true)),
    ];
    expect(look({}, source({ source: 'nodes', duplicates }))).toEqual([
      'ok: 0 routes are in place',
      'ok: nodes: 2 other hosts',
      'warning: nodes: stale Node objects, whose hosts joined again: ' +
        'old-a (now a); old-b (now b); old-c (now c); and 1 more',
      'warning: nodes: hosts have the same address: x and y',
    ]);
    expect(advices).toContain('kubectl delete node old-a old-b old-c');
  });
});
