import { reporter } from '@wins/base';
import type { ConnectionInfo } from '@wins/net';
import type { Clock } from '../ports.js';
import { delivery } from './delivery.js';
import { ANSWER_MS, ApiConnection, type SecretStoreOptions } from './api-connection.js';
import { Connections } from './connections.js';
import {
  ObjectFollower,
  type ChangeType,
  type FollowedObjects,
  type FollowListener,
} from './object-follower.js';

/** Options of {@link nodeReader}. */
export type NodeReaderOptions = Pick<
  SecretStoreOptions,
  'systemRoots' | 'environment' | 'onWarning' | 'random' | 'answerMs' | 'startTimer'
> & {
  readonly clock: Clock;
  /** Locates the API server, and has the access rights of one node. */
  readonly readInfo: () => Promise<NodeAccess>;
  /** Calls `look` when what `readInfo` reads may have changed. Default: it is read again only after a failure. */
  readonly watchInfo?: ((look: () => void) => Disposable) | undefined;
  /** Whether only the authorities of the access are trusted. */
  readonly strictTlsOf: (access: NodeAccess) => boolean;
};

/** Access to the API server of a cluster. */
export type NodeAccess = Pick<ConnectionInfo, 'access'>;

/** Follows the nodes of a cluster; passes the objects on unchanged. */
export interface ApiNodeReader {
  /**
   * Reads all nodes and follows their changes. Reports failures by `onState`, and goes on. Resolves when the signal aborts; a later
   * call reads the nodes anew.
   */
  follow<Item>(
    listener: FollowListener<Item>,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}

export const NODES: FollowedObjects = {
  what: 'the nodes',
  kind: 'Node',
  path: '/api/v1/nodes',
  // A node has up to 80 KiB, mostly image names; a page may have at most 4 MiB.
  pageSize: 50,
  // Twice the 5,000 nodes that Kubernetes supports.
  maxObjects: 10_000,
  // Initial events of a large cluster would be megabytes for each daemon at every return of the API server.
  streams: false,
  // Long, because listing a large cluster is expensive.
  watchS: 1800,
  // A change is noticed within 45 s, also behind a device that forgets connections. In a large cluster, nodes report more often.
  quietMs: 32_000,
  resumes: 3,
  // The API server's return is noticed within 15 s. Three failures, and so a list, take at least 30 s.
  lossMs: 13_000,
  againMs: [10_000, 13_000],
};

/** Uses the access rights of one node. */
export function nodeReader({
  clock,
  readInfo,
  watchInfo,
  strictTlsOf,
  ...options
}: NodeReaderOptions): ApiNodeReader {
  const { random = Math.random, answerMs = ANSWER_MS, startTimer } = options;
  const connections = new Connections({
    clock,
    readInfo,
    watchInfo,
    open: (info: NodeAccess) => {
      const connection = new ApiConnection(info.access, {
        ...options,
        strictTls: strictTlsOf(info),
      });
      const follower = new ObjectFollower(NODES, {
        connection,
        clock,
        random,
        answerMs,
        startTimer,
      });
      return { connection, follower };
    },
  });
  return {
    follow: async <Item>(
      listener: FollowListener<Item>,
      { signal }: { readonly signal: AbortSignal },
    ) => {
      const reports = {
        read: (node: unknown) => listener.read(node),
        onContact: reporter(() => listener.onContact()),
        onAll: delivery((items: readonly Item[], version: string) =>
          listener.onAll(items, version),
        ),
        onChange: delivery((type: ChangeType, item: Item) => listener.onChange(type, item)),
      };
      await connections.follow(
        async ({ connection, follower }, onState, until) => {
          try {
            await follower.run({ ...reports, onState }, until);
          } finally {
            // The server might never close the idle connection.
            connection.closeIdle();
          }
        },
        reporter((state) => listener.onState(state)),
        signal,
      );
    },
  };
}
