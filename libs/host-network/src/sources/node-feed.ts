import { systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { HostNetworkError } from '../host-network-error.js';
import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { ElementList, readPeer, type Gathered } from './element-list.js';
import type { Feed } from './source.js';

/** Reads the nodes of a cluster from its API server, as unvalidated Kubernetes objects. */
export interface NodeReader extends Disposable {
  /** @returns The version from which to watch. */
  list(onNode: (node: unknown) => void, signal: AbortSignal): Promise<string>;
  /** Reports each later change, until the server ends the watch. */
  watch(
    version: string,
    onEvent: (type: string, node: unknown) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

export interface NodeFeedOptions {
  readonly connect: () => Promise<NodeReader>;
  /** Returns the current addresses of this host. The node with one of them is this host. */
  readonly ownAddresses: () => ReadonlySet<string>;
  /** Required subnet of this host. Absent: any. */
  readonly subnet?: string | undefined;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/** Twice the 5,000 nodes that Kubernetes supports. */
const MAX_NODES = 10_000;
const GATHER_MS = 1_000;

interface NodeFacts {
  readonly name: unknown;
  readonly subnet: unknown;
  readonly nextHop: unknown;
}

/** Feed of the other nodes: the subnet of their Pods, with their internal address as next hop. */
export function nodeFeed(options: NodeFeedOptions): Feed {
  const { connect, clock = systemClock } = options;
  return {
    follow: async ({ onSnapshot, onContact }, signal) => {
      using reader = await connect();
      const nodes = new Map<string, NodeFacts>();
      const put = (node: unknown): boolean => {
        const [key, facts] = factsOf(node);
        if (isDeepStrictEqual(nodes.get(key), facts)) return false;
        nodes.set(key, facts);
        if (nodes.size <= MAX_NODES) return true;
        throw new HostNetworkError('badSource', `found more than ${MAX_NODES} nodes`);
      };
      const version = await reader.list((node) => void put(node), signal);
      const tell = async (): Promise<void> => {
        const againMs = await onSnapshot({ ...snapshotOf(nodes, options), version });
        // End this `follow`, so that the caller calls `follow` again and lists the nodes anew.
        if (againMs > 0) await clock.wait(againMs, signal);
        if (againMs > 0) ended.abort();
      };
      const ended = new AbortController();
      await tell();
      if (isAborted(ended.signal)) return;
      let problem: unknown;
      let telling: Promise<void> | undefined;
      const gather = async (): Promise<void> => {
        try {
          await clock.wait(GATHER_MS, signal);
          telling = undefined;
          await tell();
        } catch (error) {
          problem ??= error;
          ended.abort();
        }
      };
      try {
        const until = AbortSignal.any([signal, ended.signal]);
        await reader.watch(
          version,
          (type, node) => {
            onContact();
            const isGone = type === 'DELETED' && nodes.delete(factsOf(node)[0]);
            const isNew = (type === 'ADDED' || type === 'MODIFIED') && put(node);
            if (isGone || isNew) telling ??= gather();
          },
          until,
        );
      } catch (error) {
        if (!isAborted(ended.signal)) problem ??= error;
      }
      await telling;
      if (problem !== undefined) throw problem as Error;
    },
  };
}

function snapshotOf(
  nodes: ReadonlyMap<string, NodeFacts>,
  { ownAddresses, subnet: wanted }: NodeFeedOptions,
): Gathered<DesiredPeer> {
  const own = ownAddresses();
  const list = new ElementList<DesiredPeer>(MAX_PEERS);
  const ours: NodeFacts[] = [];
  for (const node of nodes.values()) {
    const { name, subnet, nextHop } = node;
    if (typeof nextHop === 'string' && own.has(nextHop)) ours.push(node);
    else list.add(name, readPeer(name, subnet, nextHop));
  }
  const [self, another] = ours;
  const fault = (found: string): HostNetworkError =>
    new HostNetworkError('badSource', `cannot use the nodes: ${found}`);
  if (self === undefined) throw fault('no node has an address of this host');
  if (another !== undefined) throw fault('several nodes have addresses of this host');
  if (wanted !== undefined && self.subnet !== wanted)
    throw fault(`the subnet of this node is not ${wanted} (hostNetwork.subnet)`);
  return list.result();
}

/** Missing facts are undefined; other facts are not validated. */
function factsOf(node: unknown): readonly [string, NodeFacts] {
  const { metadata, spec, status } = (node ?? {}) as {
    readonly metadata?: { readonly name?: unknown } | null;
    readonly spec?: { readonly podCIDR?: unknown; readonly podCIDRs?: unknown } | null;
    readonly status?: { readonly addresses?: unknown } | null;
  };
  const subnets = listOf(spec?.podCIDRs);
  const addresses = listOf(status?.addresses)
    .map((one) => (one ?? {}) as { readonly type?: unknown; readonly address?: unknown })
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
  const name = metadata?.name;
  return [
    String(name),
    {
      ...{ name, nextHop: addresses.find(isIpv4) ?? addresses[0] },
      subnet: subnets.find(isIpv4) ?? subnets[0] ?? spec?.podCIDR,
    },
  ];
}

// Without this function, TypeScript would assume that `aborted` stays false across an await.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isIpv4(value: unknown): boolean {
  return typeof value === 'string' && !value.includes(':');
}
