import { readSubnet } from '../plan/judge-peers.js';
import type { Extent } from '../plan/extent.js';
import { groupsBy, shownDuplicates } from './duplicates.js';
import type { DuplicatePeer } from './element-list.js';

/** Facts of a Node object, not validated. A missing fact is undefined. */
export interface NodeFacts {
  readonly name: unknown;
  readonly subnet: unknown;
  readonly nextHop: unknown;
  /** Status of the condition `Ready`: `True`, `False`, or `Unknown` while the kubelet is silent. */
  readonly ready: unknown;
  /** NaN if missing. */
  readonly createdMs: number;
}

export interface ThisHost {
  readonly addresses: ReadonlySet<string>;
  readonly name: string;
}

export interface JudgedNodes {
  /** Node object of this host; undefined if no object has an address of this host. */
  readonly self: NodeFacts | undefined;
  /** Node objects whose subnets may get routes. */
  readonly others: readonly NodeFacts[];
  readonly duplicates: readonly DuplicatePeer[];
}

/** Shortest prefix of a node's subnet, as number of addresses. */
const MOST_ADDRESSES = 2 ** 16;

/**
 * Decides which Node objects count. A host that joins its cluster again under another name leaves its old object, with the same
 * address and mostly with another subnet. Both subnets keep their routes, because they do not conflict. If their subnets
 * overlap, a stale object gives way.
 */
export function judgeNodes(nodes: Iterable<NodeFacts>, host: ThisHost): JudgedNodes {
  const all = [...nodes].sort(byClaim);
  const isOurs = ({ nextHop }: NodeFacts): boolean =>
    typeof nextHop === 'string' && host.addresses.has(nextHop);
  const ours = all.filter(isOurs);
  const self = selfOf(ours, host.name);
  const others = all.filter((node) => !isOurs(node));

  const dropped = new Set<NodeFacts>();
  const duplicates = [...inFavourOf(self, ours)];
  for (const group of groupsBy(others, hopOf)) {
    const [first, ...more] = group;
    if (more.length === 0) continue;
    duplicates.push(...inFavourOf(first, group));
    for (const [, ...same] of groupsBy(group, subnetOf)) for (const node of same) dropped.add(node);
  }
  const successorOf = readySubnets(all);
  for (const node of others) {
    const successor = successorOf(node);
    if (successor === undefined) continue;
    dropped.add(node);
    duplicates.push({ id: node.name, of: successor.name, isStale: true });
  }
  return {
    self,
    others: others.filter((node) => !dropped.has(node)),
    duplicates: shownDuplicates(duplicates),
  };
}

/**
 * The object of the host's name, because a kubelet registers by that name, unless the object is stale. Otherwise the first.
 *
 * @param ours - Sorted by {@link byClaim}.
 */
function selfOf(ours: readonly NodeFacts[], hostName: string): NodeFacts | undefined {
  const [first] = ours;
  const wanted = hostName.trim().toLowerCase();
  const named = ours.find(({ name }) => typeof name === 'string' && name.toLowerCase() === wanted);
  return named === undefined || first === undefined || isStaleBeside(named, first) ? first : named;
}

function* inFavourOf(live: NodeFacts | undefined, group: readonly NodeFacts[]) {
  if (live === undefined) return;
  for (const node of group)
    if (node !== live) yield { id: node.name, of: live.name, isStale: isStaleBeside(node, live) };
}

/**
 * True if the object's host has joined again as `live`. A new object that is not Ready yet is not stale, although the old one
 * still counts as Ready for 40 s.
 */
function isStaleBeside(node: NodeFacts, live: NodeFacts): boolean {
  if (!isReady(live) || isReady(node)) return false;
  return node.createdMs < live.createdMs || node.ready === 'Unknown';
}

/** Ready objects first, then the newest. */
function byClaim(one: NodeFacts, other: NodeFacts): number {
  const ready = Number(isReady(other)) - Number(isReady(one));
  const newer = (other.createdMs || 0) - (one.createdMs || 0);
  return ready || newer || (String(one.name) < String(other.name) ? -1 : 1);
}

/**
 * Returns a function that finds the object which replaces a stale one in its subnet or in a part of it. Only an older object that
 * is not Ready gives way, and only to a Ready one: the addresses differ, so the objects may belong to two hosts.
 *
 * @param all - Sorted by {@link byClaim}, so the first Ready object of a network is the newest.
 */
function readySubnets(all: readonly NodeFacts[]): (node: NodeFacts) => NodeFacts | undefined {
  const exactly = new Map<string, NodeFacts>();
  const within = new Map<string, NodeFacts>();
  for (const node of all) {
    if (!isReady(node)) break;
    const networks = networksAround(node);
    for (const [index, network] of networks.entries()) {
      if (index === 0 && !exactly.has(network)) exactly.set(network, node);
      if (!within.has(network)) within.set(network, node);
    }
  }
  return (node) => {
    if (isReady(node)) return undefined;
    const [own, ...wider] = networksAround(node);
    if (own === undefined) return undefined;
    const rivals = [within.get(own), ...wider.map((network) => exactly.get(network))];
    return rivals.find((rival) => rival !== undefined && node.createdMs < rival.createdMs);
  };
}

/** The node's subnet, and each network of up to /16 that contains it. Empty for an invalid subnet. */
function networksAround({ subnet }: NodeFacts): readonly string[] {
  const extent = typeof subnet === 'string' ? readSubnet(subnet) : undefined;
  if (extent === undefined || !('first' in extent)) return [];
  const networks: string[] = [];
  for (let size = sizeOf(extent); size <= MOST_ADDRESSES; size *= 2)
    networks.push(`${extent.first - (extent.first % size)} ${size}`);
  return networks;
}

function sizeOf({ first, last }: Extent): number {
  return last - first + 1;
}

function isReady({ ready }: NodeFacts): boolean {
  return ready === 'True';
}

function hopOf({ nextHop }: NodeFacts): string | undefined {
  return typeof nextHop === 'string' ? nextHop : undefined;
}

function subnetOf({ subnet }: NodeFacts): string | undefined {
  return typeof subnet === 'string' ? subnet : undefined;
}
