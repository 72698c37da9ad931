import { systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { HostNetworkError } from '../host-network-error.js';
import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { ElementList, readPeer, type Gathered } from './element-list.js';
import { judgeNodes, type NodeFacts } from './judge-nodes.js';
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
  /** Returns the current addresses of this host. A node with one of them is this host. */
  readonly ownAddresses: () => ReadonlySet<string>;
  /** Name of this host, in any letter case. Of several nodes with its addresses, the node of this name is this host. */
  readonly hostName: string;
  /** Required subnet of this host. Absent: any. */
  readonly subnet?: string | undefined;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/** Twice the 5,000 nodes that Kubernetes supports. */
const MAX_NODES = 10_000;
const GATHER_MS = 1_000;

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
  { ownAddresses, hostName, subnet: wanted }: NodeFeedOptions,
): Gathered<DesiredPeer> {
  const host = { addresses: ownAddresses(), name: hostName };
  const { self, others, duplicates } = judgeNodes(nodes.values(), host);
  const fault = (found: string): HostNetworkError =>
    new HostNetworkError('badSource', `cannot use the nodes: ${found}`);
  if (self === undefined) throw fault('no node has an address of this host');
  if (wanted !== undefined && self.subnet !== wanted)
    throw fault(`the subnet of this node is not ${wanted} (hostNetwork.subnet)`);
  const list = new ElementList<DesiredPeer>(MAX_PEERS);
  for (const { name, subnet, nextHop } of others) list.add(name, readPeer(name, subnet, nextHop));
  return { ...list.result(), ...(duplicates.length > 0 && { duplicates }) };
}

/** Missing facts are undefined; other facts are not validated. */
function factsOf(node: unknown): readonly [string, NodeFacts] {
  const { metadata, spec, status } = (node ?? {}) as {
    readonly metadata?: { readonly name?: unknown; readonly creationTimestamp?: unknown } | null;
    readonly spec?: { readonly podCIDR?: unknown; readonly podCIDRs?: unknown } | null;
    readonly status?: { readonly addresses?: unknown; readonly conditions?: unknown } | null;
  };
  const subnets = listOf(spec?.podCIDRs);
  const addresses = listOf(status?.addresses)
    .map((one) => (one ?? {}) as { readonly type?: unknown; readonly address?: unknown })
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
  const ready = listOf(status?.conditions)
    .map((one) => (one ?? {}) as { readonly type?: unknown; readonly status?: unknown })
    .find(({ type }) => type === 'Ready');
  const name = metadata?.name;
  return [
    String(name),
    {
      name,
      subnet: subnets.find(isIpv4) ?? subnets[0] ?? spec?.podCIDR,
      nextHop: addresses.find(isIpv4) ?? addresses[0],
      ready: ready?.status,
      createdMs: Date.parse(String(metadata?.creationTimestamp)),
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
