import {
  formatNetwork,
  networkOf,
  parseNetwork,
  unroutableReason,
  type StaticRoute,
} from '@wins/base';
import {
  addressOf,
  extentOf,
  extentsOf,
  firstAtLeast,
  isInside,
  isWithin,
  meet,
  textOf,
  type Extent,
} from './extent.js';

/** Another host and its containers, from the config, the metadata service, or the API server. */
export interface DesiredPeer {
  /** Identifies the host. A host may have several subnets, but one next hop. */
  readonly id: string;
  /** Network of the host's containers: `10.42.1.0/24`. */
  readonly subnet: string;
  /** IPv4 address of that other host, in a network that the daemon's host is also in. */
  readonly nextHop: string;
}

/** Facts that decide whether a peer is accepted, apart from its conflicts with other peers. */
export interface PeerRules {
  /** Networks that must contain the peers' subnets. Default: RFC 1918. */
  readonly cluster?: readonly string[] | undefined;
  /** Subnet of this host's containers. Default: none. */
  readonly own?: string | undefined;
  /** Addresses that no peer's subnet may contain: resolvers, the Rancher server, the API server. */
  readonly reserved?: readonly string[] | undefined;
  /** Routes that the daemon did not make. */
  readonly foreign?: readonly StaticRoute[] | undefined;
  /** Routes to peers that were accepted before. These peers win over new ones. */
  readonly incumbents?: readonly Pick<StaticRoute, 'destination' | 'gateway'>[] | undefined;
}

/**
 * Why containers cannot have a subnet. `notCanonical`: not an IPv4 network, or bits are set after its prefix. `prefixLength`: not
 * 16 to 29. `unroutable`: loopback, multicast and the like. `foreignRoute`: another program has a different route to the subnet or
 * to a part of it.
 */
export type SubnetFault =
  | 'notCanonical'
  | 'prefixLength'
  | 'unroutable'
  | 'outsideCluster'
  | 'reservedAddress'
  | 'foreignRoute';

/**
 * Why a peer is refused. `disputed`: two subnets overlap. `idRepeated`: one host has two next hops. Two hosts may have one next
 * hop, because their routes do not conflict.
 */
export type PeerRejectionCode =
  | SubnetFault
  | 'limit'
  | 'ownSubnet'
  | 'disputed'
  | 'idRepeated'
  | 'nextHopInvalid'
  | 'nextHopInCluster';

/** A peer that gets no route, and why. */
export interface RejectedPeer {
  readonly peer: DesiredPeer;
  readonly code: PeerRejectionCode;
  /** One clause, for people. */
  readonly detail: string;
}

/** Every peer is in exactly one list. Both lists are sorted by id. */
export interface JudgedPeers {
  readonly accepted: readonly DesiredPeer[];
  readonly rejected: readonly RejectedPeer[];
}

/** Maximum number of peers. Those accepted before count first, then new ones in the order of their ids. New peers beyond the limit are refused. */
export const MAX_PEERS = 1024;
/** Maximum number of cluster networks. Further ones are ignored. */
export const MAX_CLUSTER = 8;
export const RFC_1918: readonly string[] = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
const [SHORTEST_PREFIX, LONGEST_PREFIX] = [16, 29];

interface Candidate {
  readonly peer: DesiredPeer;
  readonly extent: Extent;
  readonly hop: number;
  readonly isIncumbent: boolean;
}

export type Refusal<Code = PeerRejectionCode> = readonly [code: Code, detail: string];

/**
 * Decides which peers may have a route. Never throws. The order of peers does not matter, and an invalid peer affects no other.
 * Does not check whether this host reaches the next hop; {@link plan} does.
 */
export function judgePeers(peers: readonly DesiredPeer[], rules: PeerRules = {}): JudgedPeers {
  const { cluster = RFC_1918, own, reserved = [], foreign = [], incumbents = [] } = rules;
  const ranges = extentsOf(cluster.slice(0, MAX_CLUSTER));
  const ownExtents = extentsOf(own === undefined ? [] : [own]);
  const kept = reserved.flatMap((address) => addressOf(address) ?? []);
  const others = foreign
    .flatMap(({ destination, gateway }) => {
      const network = parseNetwork(destination);
      return network?.bytes.length === 4 ? [{ ...extentOf(network), destination, gateway }] : [];
    })
    .sort((a, b) => a.first - b.first);
  const known = new Set(incumbents.map(({ destination, gateway }) => `${destination} ${gateway}`));
  const isKnown = (peer: DesiredPeer): boolean => known.has(routeOf(peer));
  const refused = new Map<DesiredPeer, Refusal>();
  const sorted = sortedBy(peers, ({ id, subnet, nextHop }) => `${id}\0${subnet}\0${nextHop}`);
  const first = new Map<string, DesiredPeer>();
  for (const peer of sorted.toReversed()) first.set(routeOf(peer), peer);
  // Accepted peers count first, so that peers with invented ids cannot displace them.
  let free = MAX_PEERS - [...first.values()].filter(isKnown).length;

  const candidateOf = (peer: DesiredPeer): Candidate | Refusal => {
    const same = first.get(routeOf(peer));
    if (same !== undefined && same !== peer)
      return ['disputed', `the host ${same.id} has this route already`];
    const read = readPeer(peer);
    if (!('hop' in read)) return read;
    const { extent, hop } = read;
    const taken = kept.find((address) => isWithin(address, extent));
    const isIncumbent = isKnown(peer);
    const rival = isIncumbent ? undefined : rivalOf(peer, extent, others);
    return !isIncumbent && (free -= 1) < 0
      ? ['limit', `it is beyond the limit of ${MAX_PEERS} hosts`]
      : !ranges.some((range) => isInside(extent, range))
        ? ['outsideCluster', `it is not in ${cluster.join(', ')}`]
        : ownExtents.some((one) => meet(one, extent))
          ? ['ownSubnet', `it overlaps ${String(own)}, which this host has`]
          : taken !== undefined
            ? ['reservedAddress', `${textOf(taken)} is in it`]
            : rival !== undefined
              ? ['foreignRoute', `another program has a route to ${rival.destination}`]
              : { peer, extent, hop, isIncumbent };
  };
  const fit = sorted.flatMap((peer): readonly Candidate[] => {
    const read = candidateOf(peer);
    if ('peer' in read) return [read];
    refused.set(peer, read);
    return [];
  });

  const refuse = ({ peer }: Candidate, refusal: Refusal): void => {
    if (!refused.has(peer)) refused.set(peer, refusal);
  };
  dispute(bySubnet(fit), refuse, ({ peer: { subnet } }) => ['disputed', `${subnet} overlaps it`]);
  dispute(withTwoHops(fit), refuse, ({ peer: { nextHop } }) => {
    return ['idRepeated', `the same host is at ${nextHop}, too`];
  });
  const standing = fit.filter(({ peer }) => !refused.has(peer));
  const subnets = [...standing.map(({ extent }) => extent), ...ownExtents].sort(
    (a, b) => a.first - b.first,
  );
  for (const one of standing) {
    const at = subnets[firstAtLeast(subnets, one.hop, ({ last }) => last)];
    if (at !== undefined && isWithin(one.hop, at))
      refuse(one, ['nextHopInCluster', 'its next hop is in a container network']);
  }
  return {
    accepted: standing.flatMap(({ peer }) => (refused.has(peer) ? [] : [peer])),
    rejected: sorted.flatMap((peer) => {
      const [code, detail] = refused.get(peer) ?? [];
      return code === undefined || detail === undefined ? [] : [{ peer, code, detail }];
    }),
  };
}

/** Finds another program's route to a peer's subnet or to a part of it. A route with that subnet and the peer's next hop does not count. */
function rivalOf<Other extends Extent & Pick<StaticRoute, 'destination' | 'gateway'>>(
  { subnet, nextHop }: DesiredPeer,
  extent: Extent,
  others: readonly Other[],
): Other | undefined {
  for (let at = firstAtLeast(others, extent.first, ({ first }) => first); ; at += 1) {
    const other = others[at];
    if (other === undefined || other.first > extent.last) return undefined;
    const isAlike = other.destination === subnet && other.gateway === nextHop;
    if (other.last <= extent.last && !isAlike) return other;
  }
}

export function readSubnet(subnet: string): Extent | Refusal<SubnetFault> {
  const network = parseNetwork(subnet);
  if (network?.bytes.length !== 4 || formatNetwork(networkOf(network)) !== subnet)
    return ['notCanonical', 'it is not a canonical IPv4 network'];
  const reason = unroutableReason(network);
  if (reason !== undefined) return ['unroutable', reason];
  const { prefix } = network;
  return prefix < SHORTEST_PREFIX || prefix > LONGEST_PREFIX
    ? ['prefixLength', `/${prefix} is not /16 to /29`]
    : extentOf(network);
}

function readPeer({ subnet, nextHop }: DesiredPeer): Pick<Candidate, 'extent' | 'hop'> | Refusal {
  const extent = readSubnet(subnet);
  if (!('first' in extent)) return extent;
  const hop = addressOf(nextHop);
  const network = hop === undefined ? undefined : parseNetwork(nextHop);
  if (hop === undefined || network === undefined)
    return ['nextHopInvalid', 'its next hop is not an IPv4 address'];
  const wrong = unroutableReason(network);
  return wrong === undefined ? { extent, hop } : ['nextHopInvalid', `its next hop: ${wrong}`];
}

/**
 * Decides between peers with overlapping subnets or the same id. A peer accepted earlier (an incumbent) wins over a new one.
 * Two new peers, or two incumbents, are both refused, because neither has a better claim.
 */
function dispute(
  pairs: Iterable<readonly [Candidate, Candidate]>,
  refuse: (one: Candidate, refusal: Refusal) => void,
  because: (other: Candidate) => Refusal,
): void {
  for (const [one, other] of pairs) {
    if (!one.isIncumbent || other.isIncumbent) refuse(one, because(other));
    if (!other.isIncumbent || one.isIncumbent) refuse(other, because(one));
  }
}

function* bySubnet(all: readonly Candidate[]): Iterable<readonly [Candidate, Candidate]> {
  const sorted = [...all].sort((a, b) => a.extent.first - b.extent.first);
  let reaching: Candidate[] = [];
  for (const one of sorted) {
    reaching = reaching.filter(({ extent }) => extent.last >= one.extent.first);
    for (const other of reaching) yield [other, one];
    reaching.push(one);
  }
}

/** Yields pairs of one host with different next hops. */
function* withTwoHops(all: readonly Candidate[]): Iterable<readonly [Candidate, Candidate]> {
  const groups = new Map<string, Candidate[]>();
  for (const one of all) {
    const { id, nextHop } = one.peer;
    const group = groups.get(id) ?? [];
    for (const before of group) if (before.peer.nextHop !== nextHop) yield [before, one];
    group.push(one);
    groups.set(id, group);
  }
}

function routeOf({ subnet, nextHop }: DesiredPeer): string {
  return `${subnet} ${nextHop}`;
}

export function sortedBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return [...items].sort((a, b) => compare(keyOf(a), keyOf(b)));
}
