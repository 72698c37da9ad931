import { messageOf, reporter } from '@wins/base';
import { systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { HostNetworkError } from '../host-network-error.js';
import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { ElementList, readPeer, type Gathered } from './element-list.js';
import { judgeNodes, type NodeFacts } from './judge-nodes.js';
import type { Feed, FeedListener, Snapshot } from './source.js';

/** Receives nodes and the state of the connection to the API server. */
export interface NodeListener<Item> {
  /** Reads a node as soon as it arrives, so that the whole object is not kept. */
  readonly read: (node: unknown) => Item;
  /** All nodes: replaces those that were reported before. */
  readonly onAll: (items: readonly Item[], version: string) => unknown;
  readonly onChange: (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: Item) => unknown;
  /** Called whenever the API server sends something. */
  readonly onContact: () => unknown;
  readonly onState: (
    state: { readonly kind: 'connected' } | { readonly kind: 'waiting'; readonly error: Error },
  ) => unknown;
}

/** Follows the nodes of a cluster at its API server, as unvalidated Kubernetes objects. */
export interface NodeReader {
  /**
   * Reads all nodes, at most 10,000, and follows their changes. Reports failures by `onState`, and goes on. Resolves when the
   * signal aborts; a later call reads the nodes anew.
   */
  follow<Item>(
    listener: NodeListener<Item>,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}

/** Source of Kubernetes nodes, and the facts by which the feed finds the node of this host. */
export interface NodeFeedOptions {
  readonly reader: NodeReader;
  /** Returns the current addresses of this host. A node with one of them is this host. */
  readonly ownAddresses: () => ReadonlySet<string>;
  /** Name of this host, in any letter case. Of several nodes with its addresses, the node of this name is this host. */
  readonly hostName: string;
  /** Required subnet of this host. Absent: any. */
  readonly subnet?: string | undefined;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

/** Twice the 5,000 nodes that Kubernetes supports. */
const MAX_NODES = 10_000;
const GATHER_MS = 1_000;
const JUDGE_AGAIN_MS = 5_000;

/** Feed of the other nodes: the subnet of their Pods, with their internal address as next hop. */
export function nodeFeed(options: NodeFeedOptions): Feed {
  return {
    follow: async (listener, { signal }) => {
      const following = new FollowedNodes(options, listener);
      while (!isAborted(signal)) await following.follow(signal);
    },
  };
}

/** The nodes as last seen, and what they tell the listener. */
class FollowedNodes {
  readonly #options: NodeFeedOptions;
  readonly #listener: FeedListener;
  readonly #clock: Clock;
  #nodes = new Map<string, NodeFacts>();
  #version = '';
  /** Why the nodes cannot be followed. */
  #failure = '';
  /** Why the known nodes cannot be used. */
  #fault = '';
  #telling: Promise<void> | undefined;
  /** Whether the nodes have changed since they were last judged. */
  #isChanged = false;

  constructor(options: NodeFeedOptions, listener: FeedListener) {
    this.#options = options;
    this.#listener = {
      onSnapshot: (snapshot) => listener.onSnapshot(snapshot),
      onContact: reporter(() => listener.onContact()),
      onProblem: reporter((problem) => listener.onProblem(problem)),
    };
    this.#clock = options.clock ?? systemClock;
  }

  /** Resolves when the nodes have to be read again, or when the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const again = new AbortController();
    const until = AbortSignal.any([signal, again.signal]);
    let failed: unknown;
    const changed = (gatherMs: number): void => {
      this.#isChanged = true;
      this.#telling ??= this.#tell(gatherMs, until).then(
        (mustReadAgain) => {
          this.#telling = undefined;
          if (mustReadAgain) again.abort();
        },
        (error: unknown) => {
          if (!isAborted(until)) failed = error;
          again.abort();
        },
      );
    };
    await this.#options.reader.follow<readonly [string, NodeFacts]>(
      {
        read: factsOf,
        onAll: (items, version) => {
          this.#nodes = new Map(items);
          this.#version = version;
          changed(0);
        },
        onChange: (type, [key, facts]) => {
          if (type === 'DELETED') {
            if (this.#nodes.delete(key)) changed(GATHER_MS);
          } else if (!isDeepStrictEqual(this.#nodes.get(key), facts)) {
            this.#nodes.set(key, facts);
            // The reader refuses to read so many, and says so.
            if (this.#nodes.size > MAX_NODES) again.abort();
            else changed(GATHER_MS);
          }
        },
        onContact: () => {
          // Nodes that cannot be used must not count as current.
          if (this.#fault === '') this.#listener.onContact();
        },
        onState: (state) => {
          this.#failure = state.kind === 'waiting' ? messageOf(state.error) : '';
          this.#listener.onProblem(this.#failure || this.#fault);
        },
      },
      { signal: until },
    );
    await this.#telling;
    this.#telling = undefined;
    if (failed !== undefined) throw failed as Error;
  }

  /**
   * Tells the listener of the nodes, and of their changes within the next second, because changes come in bursts. Returns true if the
   * nodes have to be read again, because most of them are gone.
   */
  async #tell(gatherMs: number, signal: AbortSignal): Promise<boolean> {
    for (let waitMs = gatherMs; this.#isChanged;) {
      if (waitMs > 0) await this.#clock.wait(waitMs, { signal });
      const snapshot = this.#judge();
      this.#isChanged = snapshot === undefined;
      this.#listener.onProblem(this.#failure || this.#fault);
      // The addresses of this host can change without a change of a node.
      waitMs = snapshot === undefined ? JUDGE_AGAIN_MS : GATHER_MS;
      const againMs = snapshot === undefined ? 0 : await this.#listener.onSnapshot(snapshot);
      if (againMs === 0) continue;
      await this.#clock.wait(againMs, { signal });
      return true;
    }
    return false;
  }

  #judge(): Snapshot | undefined {
    try {
      const snapshot = { ...snapshotOf(this.#nodes, this.#options), version: this.#version };
      this.#fault = '';
      return snapshot;
    } catch (error) {
      if (!(error instanceof HostNetworkError)) throw error;
      this.#fault = error.message;
      return undefined;
    }
  }
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
