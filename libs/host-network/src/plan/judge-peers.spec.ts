import fc from 'fast-check';
import {
  judgePeers,
  MAX_PEERS,
  type DesiredPeer,
  type PeerRejectionCode,
  type PeerRules,
} from './judge-peers.js';

const peer = (id: string, subnet: string, nextHop: string): DesiredPeer => ({
  id,
  subnet,
  nextHop,
});
const A = peer('a', '10.42.1.0/24', '172.30.0.1');
const B = peer('b', '10.42.2.0/24', '172.30.0.2');
const route = ({ subnet, nextHop }: DesiredPeer) => ({ destination: subnet, gateway: nextHop });
const foreign = (destination: string, gateway: string) => ({
  destination,
  gateway,
  interface: 'e0',
  metric: 0,
});

function codes(peers: readonly DesiredPeer[], rules?: PeerRules): Readonly<Record<string, string>> {
  const { accepted, rejected } = judgePeers(peers, rules);
  return Object.fromEntries([
    ...accepted.map(({ id }) => [id, 'accepted']),
    ...rejected.map(({ peer: { id }, code }) => [id, code]),
  ]) as Record<string, string>;
}

describe('of the peers of a host', () => {
  it('those are accepted that take nothing from anybody, in the order of their names', () => {
    expect(judgePeers([B, A], { own: '10.42.9.0/24', cluster: ['10.42.0.0/16'] })).toEqual({
      accepted: [A, B],
      rejected: [],
    });
  });

  it.each<[string, string, PeerRejectionCode]>([
    ['the default route', '0.0.0.0/0', 'unroutable'],
    ['half of all addresses', '0.0.0.0/1', 'unroutable'],
    ['loopback', '127.0.0.0/16', 'unroutable'],
    ['the metadata of a cloud', '169.254.169.254/32', 'prefixLength'],
    ['link-local addresses', '169.254.0.0/16', 'unroutable'],
    ['multicast', '224.0.0.0/16', 'unroutable'],
    ['more than a /16', '10.0.0.0/8', 'prefixLength'],
    ['less than a /29', '10.42.1.0/30', 'prefixLength'],
    ['bits below the prefix', '10.42.1.1/24', 'notCanonical'],
    ['octal digits', '010.42.1.0/24', 'notCanonical'],
    ['IPv6', '2001:db8::/32', 'notCanonical'],
    ['shell text', '10.42.1.0/24; reboot', 'notCanonical'],
    ['public addresses', '8.8.8.0/24', 'outsideCluster'],
    ['the network of this host', '10.42.9.128/25', 'ownSubnet'],
    ['what has this host in it', '10.42.0.0/16', 'ownSubnet'],
    ['the resolver', '10.53.0.0/24', 'reservedAddress'],
    ['what somebody else leads to', '10.77.1.0/24', 'foreignRoute'],
    ['what has the route of somebody else in it', '10.77.0.0/16', 'foreignRoute'],
  ])('one that claims %s is refused, and no other', (_what, subnet, code) => {
    const rules = {
      own: '10.42.9.0/24',
      reserved: ['10.53.0.53'],
      foreign: [foreign('10.77.1.0/24', '192.0.2.1'), foreign('0.0.0.0/0', '192.0.2.1')],
    };
    const given = [A, B, peer('x', subnet, '172.30.0.9')];
    expect(codes(given, rules)).toEqual({ a: 'accepted', b: 'accepted', x: code });
  });

  it.each<[string, string, PeerRejectionCode]>([
    ['a name', 'host-b', 'nextHopInvalid'],
    ['quotes', '"172.30.0.9"', 'nextHopInvalid'],
    ['shell text', '172.30.0.9; reboot', 'nextHopInvalid'],
    ['nothing', '', 'nextHopInvalid'],
    ['a network', '172.30.0.9/32', 'nextHopInvalid'],
    ['0.0.0.0', '0.0.0.0', 'nextHopInvalid'],
    ['all hosts', '255.255.255.255', 'nextHopInvalid'],
    ['loopback', '127.0.0.1', 'nextHopInvalid'],
    ['a container of its own', '10.42.3.1', 'nextHopInCluster'],
    ['a container of another peer', '10.42.1.9', 'nextHopInCluster'],
    ['a container of this host', '10.42.9.9', 'nextHopInCluster'],
  ])('one whose next hop is %s is refused, and no earlier one', (_what, nextHop, code) => {
    const given = [A, B, peer('x', '10.42.3.0/24', nextHop)];
    const rules = { own: '10.42.9.0/24', incumbents: [route(A), route(B)] };
    expect(codes(given, rules)).toEqual({ a: 'accepted', b: 'accepted', x: code });
  });

  it('the incumbent keeps what a newcomer claims, whole or in part, and newcomers alone get nothing', () => {
    const whole = peer('0', A.subnet, '172.30.0.8');
    const part = peer('1', '10.42.1.128/25', '172.30.0.9');
    expect(codes([whole, part, A, B], { incumbents: [route(A)] })).toEqual({
      '0': 'disputed',
      '1': 'disputed',
      a: 'accepted',
      b: 'accepted',
    });
    expect(codes([whole, A, B])).toEqual({ '0': 'disputed', a: 'disputed', b: 'accepted' });
  });

  it('one that repeats all that another says takes nothing from it', () => {
    expect(codes([A, { ...A, id: '0' }, B])).toEqual({
      '0': 'accepted',
      a: 'disputed',
      b: 'accepted',
    });
  });

  it('one host may have two subnets, and no two next hops', () => {
    const second = { ...A, subnet: '10.42.3.0/24' };
    expect(judgePeers([A, second]).accepted).toHaveLength(2);
    const elsewhere = { ...second, nextHop: '172.30.0.9' };
    expect(judgePeers([A, elsewhere]).rejected.map(({ code }) => code)).toEqual([
      'idRepeated',
      'idRepeated',
    ]);
    expect(judgePeers([A, elsewhere], { incumbents: [route(A)] }).accepted).toEqual([A]);
  });

  it('one whose next hop another host names keeps its route, new or known, and the other gets one', () => {
    const sharing = peer('x', '10.42.3.0/24', A.nextHop);
    const all = { a: 'accepted', b: 'accepted', x: 'accepted' };
    expect(codes([A, B, sharing])).toEqual(all);
    expect(codes([A, B, sharing], { incumbents: [route(A)] })).toEqual(all);
    expect(codes([A, B, sharing], { incumbents: [route(sharing)] })).toEqual(all);
    // A shared next hop gives no claim to a subnet.
    const greedy = [peer('x', A.subnet, B.nextHop), peer('y', '10.42.1.128/25', A.nextHop)];
    expect(codes([A, B, ...greedy], { incumbents: [route(A)] })).toEqual({
      a: 'accepted',
      b: 'accepted',
      x: 'disputed',
      y: 'disputed',
    });
  });

  it('a route of somebody else that leads to the peer costs it nothing', () => {
    expect(codes([A], { foreign: [foreign(A.subnet, A.nextHop)] })).toEqual({ a: 'accepted' });
    const later = { foreign: [foreign(A.subnet, '192.0.2.1')], incumbents: [route(A)] };
    expect(codes([A], later)).toEqual({ a: 'accepted' });
  });

  it('those beyond the limit are refused, and no earlier one', () => {
    const many = Array.from({ length: MAX_PEERS + 1 }, (_, index) =>
      peer(
        `0${index}`,
        `10.${index >> 8}.${index & 255}.0/24`,
        `172.30.${index >> 8}.${index & 255}`,
      ),
    ).filter(({ nextHop }) => nextHop !== '172.30.0.0');
    const last = peer('z', '192.168.1.0/24', '172.30.99.1');
    const judged = judgePeers([...many, last], { incumbents: [route(last)] });
    expect(judged.accepted).toHaveLength(MAX_PEERS);
    expect(judged.accepted).toContain(last);
    expect(judged.rejected.map(({ code }) => code)).toEqual(['limit']);
  });

  it('a flood of them costs no time to speak of, and those that were there nothing', () => {
    const incumbents = [route(A), route(B)];
    const flood = Array.from({ length: 50_000 }, (_, index) => {
      const victim = index % 2 === 0 ? A : peer('', '10.42.0.0/16', '172.30.0.9');
      return { ...victim, id: `0${index}` };
    });
    const { accepted } = judgePeers([...flood, A, B], { incumbents });
    expect(accepted.map(({ subnet }) => subnet)).toEqual([A.subnet, B.subnet]);
  });

  it('each is in one list, whatever is given, and no two that are accepted meet', () => {
    const text = fc.oneof(
      fc.constantFrom('10.42.1.0/24', '10.42.1.0/25', '10.42.0.0/16', '10.43.0.0/16', '::/0', ''),
      fc.string(),
    );
    const hop = fc.oneof(fc.constantFrom('172.30.0.1', '172.30.0.2', '10.42.1.1'), fc.string());
    const id = fc.constantFrom('a', 'b', 'c');
    const peers = fc.array(fc.record({ id, subnet: text, nextHop: hop }));
    fc.assert(
      fc.property(peers, fc.nat(3), (given, incumbents) => {
        const rules = { incumbents: given.slice(0, incumbents).map(route) };
        const judged = judgePeers(given, rules);
        expect(judged.accepted.length + judged.rejected.length).toBe(given.length);
        expect(judgePeers(given.toReversed(), rules)).toEqual(judged);
        const subnets = new Map(judged.accepted.map(({ subnet, nextHop }) => [subnet, nextHop]));
        for (const { subnet, nextHop } of judged.accepted)
          expect(subnets.get(subnet)).toBe(nextHop);
        expect(subnets.has('10.42.0.0/16') && subnets.has('10.42.1.0/24')).toBe(false);
      }),
    );
  });
});
