import type { ServerResponse } from 'node:http';
import type { ApiRequest } from './api-fault.js';
import { ApiFailure, failure } from './api-status.js';

export interface WatchedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: WatchedObject;
  readonly resourceVersion: number;
}

/** The objects of one kind, with their history. */
export interface WatchedTable {
  readonly version: number;
  list(namespace: string, name: string | undefined): readonly WatchedObject[];
  /** @throws ApiFailure 410. */
  eventsSince(resourceVersion: number): readonly WatchedEvent[];
  listen(listener: (event: WatchedEvent) => void): () => void;
}

export interface WatchedCollection {
  readonly kind: 'Secret' | 'Node';
  readonly table: WatchedTable;
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  readonly name: string | undefined;
}

export interface WatchOptions {
  /**
   * Support of `sendInitialEvents`. `false` refuses it with 422, as servers before 1.32 do. `failing` refuses it with an
   * ERROR event after status 200, as 1.35 does on etcd 3.4.
   */
  readonly watchList: boolean | 'failing';
  /** Refuses an expired version with an ERROR event after status 200, or with status 410. */
  readonly expiredAs: 'event' | 'status';
  readonly watches: Set<OpenWatch>;
}

export interface OpenWatch {
  /** Sends the current version, if the client requested bookmarks. */
  bookmark(): void;
  /** Ends the answer, as a server does after `timeoutSeconds`. */
  end(): void;
}

export function serveWatch(
  { query }: ApiRequest,
  response: ServerResponse,
  { kind, table, namespace, name }: WatchedCollection,
  { watchList, expiredAs, watches }: WatchOptions,
): void {
  const wantsInitial = query.get('sendInitialEvents') === 'true';
  if (wantsInitial && !watchList) throw unknownOption();
  const version = Number(query.get('resourceVersion') ?? 0);

  const send = (type: string, object: object): void => {
    response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const bookmark = (annotations?: object): void => {
    const metadata = {
      resourceVersion: String(table.version),
      ...(annotations && { annotations }),
    };
    send('BOOKMARK', { kind, apiVersion: 'v1', metadata });
  };
  const start = (): void => {
    response.writeHead(200, {
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
    });
    response.flushHeaders();
  };

  const failWith = (error: ApiFailure): void => {
    start();
    send('ERROR', error.status);
    response.end();
  };
  if (wantsInitial && watchList === 'failing') {
    failWith(noProgress());
    return;
  }

  const isWanted = ({ metadata }: WatchedObject) =>
    (metadata['namespace'] ?? '') === namespace && (name === undefined || metadata.name === name);
  if (wantsInitial || version === 0) {
    start();
    for (const object of table.list(namespace, name)) send('ADDED', object);
    if (wantsInitial) bookmark({ 'k8s.io/initial-events-end': 'true' });
  } else {
    try {
      const missed = table.eventsSince(version);
      start();
      for (const { type, object } of missed) if (isWanted(object)) send(type, object);
    } catch (error) {
      if (!(error instanceof ApiFailure) || expiredAs === 'status') throw error;
      failWith(error);
      return;
    }
  }
  const stop = table.listen(({ type, object, resourceVersion }) => {
    if (isWanted(object) && resourceVersion > version) send(type, object);
  });
  const watch: OpenWatch = {
    bookmark: () => {
      if (query.get('allowWatchBookmarks') === 'true') bookmark();
    },
    end: () => response.end(),
  };
  watches.add(watch);
  response.on('close', () => {
    stop();
    watches.delete(watch);
  });
}

function noProgress(): ApiFailure {
  const found = 'the required storage feature RequestWatchProgress is disabled';
  return failure(500, 'InternalError', `a watch stream was requested by the client but ${found}`);
}

function unknownOption(): ApiFailure {
  const message =
    'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
  const cause = { reason: 'FieldValueForbidden', message: `Forbidden: ${message}` };
  return failure(
    422,
    'Invalid',
    `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: ${message}`,
    {
      group: 'meta.k8s.io',
      kind: 'ListOptions',
      causes: [{ ...cause, field: 'sendInitialEvents' }],
    },
  );
}
