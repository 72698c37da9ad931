import { judgeNodes, type NodeFacts } from './judge-nodes.js';

const HOST = { addresses: new Set(['172.16.0.1']), name: 'A' };

/** A Ready node whose subnet and address have this number, created on this day. */
const node = (name: string, number: number, day: number, more: Partial<NodeFacts> = {}) => ({
  name,
  subnet: `10.42.${number}.0/24`,
  nextHop: `172.16.0.${number}`,
  ready: 'True',
  createdMs: day,
  ...more,
});
const SELF = node('a', 1, 1);
const SILENT = { ready: 'Unknown' };
const NOT_READY = { ready: 'False' };

function judge(...nodes: readonly NodeFacts[]) {
  const { self, others, duplicates } = judgeNodes(nodes, HOST);
  expect(judgeNodes(nodes.toReversed(), HOST)).toEqual({ self, others, duplicates });
  return {
    self: self?.name,
    others: others.map(({ name }) => name).sort(),
    duplicates: duplicates.map(
      ({ id, of, isStale }) => `${id} ${isStale ? 'stale' : 'like'} ${of}`,
    ),
  };
}

describe('of Node objects', () => {
  it('one is this host, and each other one with an address of its own is another host', () => {
    expect(judge(SELF, node('b', 2, 2), node('c', 3, 3, SILENT))).toEqual({
      self: 'a',
      others: ['b', 'c'],
      duplicates: [],
    });
    expect(judge(node('b', 2, 2)).self).toBeUndefined();
  });

  it.each<[string, readonly NodeFacts[], string, readonly string[]]>([
    [
      'has its name, in any letter case, although another one is Ready before it',
      [node('a', 1, 9, NOT_READY), node('old', 1, 1)],
      'a',
      ['old like a'],
    ],
    ['has its name', [node('A', 1, 1), node('z', 1, 9)], 'A', ['z like A']],
    ['is Ready', [node('x', 1, 1), node('y', 1, 9, NOT_READY)], 'x', ['y like x']],
    ['is the newest', [node('x', 1, 1), node('y', 1, 9)], 'y', ['x like y']],
    [
      'replaced the object of its name, which another machine or an earlier installation left',
      [node('a', 1, 1, NOT_READY), node('y', 1, 9)],
      'y',
      ['a stale y'],
    ],
    ['has its name, and the other is old', [SELF, node('x', 1, 0, NOT_READY)], 'a', ['x stale a']],
    ['has its name, and the other is silent', [SELF, node('x', 1, 9, SILENT)], 'a', ['x stale a']],
  ])('with addresses of this host, the one counts that %s', (_what, ours, self, duplicates) => {
    expect(judge(...ours, node('b', 2, 2))).toEqual({ self, others: ['b'], duplicates });
  });

  it.each<[string, Partial<NodeFacts>, Partial<NodeFacts>, string]>([
    ['that is silent beside a Ready one', SILENT, {}, 'old stale new'],
    ['that is not Ready beside a Ready one', NOT_READY, {}, 'old stale new'],
    ['without conditions beside a Ready one', { ready: undefined }, {}, 'old stale new'],
    ['that is still Ready while the new one is not yet', {}, NOT_READY, 'new like old'],
    ['that is Ready again under its old name', {}, SILENT, 'new stale old'],
    ['beside another Ready one', {}, {}, 'old like new'],
    ['while the host is off', SILENT, SILENT, 'old like new'],
    ['whose creation is unknown', { ...NOT_READY, createdMs: NaN }, {}, 'old like new'],
  ])('an old one %s keeps its route beside it', (_what, old, fresh, duplicate) => {
    const address = '172.16.0.2';
    const nodes = [node('old', 2, 1, old), node('new', 5, 9, { ...fresh, nextHop: address })];
    expect(judge(SELF, ...nodes)).toEqual({
      self: 'a',
      others: ['new', 'old'],
      duplicates: [duplicate],
    });
  });

  it('a stale one gives way if its subnet, a part of it, or a larger one belongs to a newer Ready one', () => {
    const fresh = node('new', 2, 9, { nextHop: '172.16.0.7' });
    for (const subnet of ['10.42.2.0/24', '10.42.2.128/25', '10.42.2.8/29', '10.42.0.0/16'])
      for (const state of [SILENT, NOT_READY])
        expect(
          judge(node('b', 3, 1), fresh, node('old', 2, 1, { ...state, subnet }), SELF),
        ).toEqual({
          self: 'a',
          others: ['b', 'new'],
          duplicates: ['old stale new'],
        });
    expect(judge(SELF, node('old', 8, 0, { ...SILENT, subnet: SELF.subnet }))).toEqual({
      self: 'a',
      others: [],
      duplicates: ['old stale a'],
    });
  });

  it.each<[string, Partial<NodeFacts>, Partial<NodeFacts>]>([
    ['both are Ready', {}, {}],
    ['neither is Ready', SILENT, SILENT],
    ['the older one is Ready', {}, SILENT],
    ['the older one is Ready, and the newer one not', {}, NOT_READY],
    ['the newer one is not Ready', NOT_READY, NOT_READY],
    ['they were created at one time', { ...NOT_READY, createdMs: 9 }, {}],
    ['another subnet only contains the same text', { ...SILENT, subnet: '10.42.20.0/24' }, {}],
    ['the subnet is invalid', { ...SILENT, subnet: '10.42.2.0/240' }, {}],
    ['the subnet is larger than /16', { ...SILENT, subnet: '10.0.0.0/8' }, {}],
  ])(
    'of two with one subnet and two addresses, both are left for the plan if %s',
    (_what, old, fresh) => {
      const rival = node('new', 2, 9, { ...fresh, nextHop: '172.16.0.7' });
      expect(judge(SELF, node('old', 2, 1, old), rival).others).toEqual(['new', 'old']);
    },
  );

  it('of two with one subnet and one address, the Ready one counts, then the newest', () => {
    const twins = (...states: readonly Partial<NodeFacts>[]) =>
      judge(SELF, ...states.map((state, index) => node(`n-${index}`, 2, index, state))).others;
    expect(twins(SILENT, {})).toEqual(['n-1']);
    expect(twins({}, SILENT)).toEqual(['n-0']);
    expect(twins({}, {}, {})).toEqual(['n-2']);
    expect(twins(SILENT, SILENT)).toEqual(['n-1']);
  });

  it('an unreadable one costs no other anything, and the first 64 duplicates are listed', () => {
    const odd = [
      node('no-subnet', 2, 2, { subnet: undefined, nextHop: undefined }),
      node('no-hop', 3, 3, { nextHop: 7, subnet: {}, ready: {} }),
      { name: undefined, subnet: null, nextHop: null, ready: null, createdMs: NaN },
      node('x y', 4, 1, { nextHop: '172.16.0.5' }),
      node('b', 5, 5),
    ];
    expect(judge(SELF, ...odd).duplicates).toEqual([]);
    const twins = Array.from({ length: 70 }, (_, index) =>
      node(`n-${String(index).padStart(2, '0')}`, index + 2, index, { nextHop: '172.16.0.9' }),
    );
    const { others, duplicates } = judge(SELF, ...twins);
    expect(others).toHaveLength(70);
    expect([duplicates.length, duplicates[0]]).toEqual([64, 'n-00 like n-69']);
  });

  it('a flood costs no time to speak of', () => {
    const flood = Array.from({ length: 10_000 }, (_, index) =>
      node(`n-${index}`, 2, index, {
        subnet: index % 3 === 0 ? '10.42.0.0/16' : `10.42.${index & 255}.0/24`,
        ready: index % 2 === 0 ? 'True' : 'Unknown',
        ...(index % 5 === 0 && { nextHop: `172.16.${index >> 8}.${index & 255}` }),
      }),
    );
    expect(judgeNodes([SELF, ...flood], HOST).self?.name).toBe('a');
  });
});
