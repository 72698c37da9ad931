import { NetError, type ConnectionInfo } from '@wins/net';
import { AgentError } from '../agent-error.js';
import { ApiConnection, type SecretStoreOptions } from './api-connection.js';
import { readJsonLines } from './response-body.js';
import { objectOf, unusable } from './secret-object.js';

export type NodeReaderOptions = Pick<
  SecretStoreOptions,
  'strictTls' | 'systemRoots' | 'environment' | 'onWarning' | 'random' | 'answerMs' | 'silenceMs'
>;

/** Lists and watches nodes; passes the objects on unchanged. */
export interface ApiNodeReader extends Disposable {
  /** Returns the version from which to watch. @throws AgentError with one of the codes that `secretStore` lists. */
  list(onNode: (node: unknown) => void, signal: AbortSignal): Promise<string>;
  /** Resolves when the server ends the watch. @throws AgentError with one of the codes that `secretStore` lists. */
  watch(
    version: string,
    onEvent: (type: string, node: unknown) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

const PATH = '/api/v1/nodes';
const LIST = 'list the nodes';
const WATCH = 'watch the nodes';
/** Nodes per page. A node has up to 80 KiB, mostly image names; a page may have at most 4 MiB. */
const PAGE = 50;
/** Enough for twice the 5,000 nodes that Kubernetes supports. */
const MAX_PAGES = 200;
/** Minimum duration of a watch; the maximum is twice as long. Long, because listing a large cluster is expensive. */
const WATCH_S = 1800;

/** Uses the access rights of one node. @throws AgentError `invalidConnection`. */
export function nodeReader(
  { access }: Pick<ConnectionInfo, 'access'>,
  options: NodeReaderOptions,
): ApiNodeReader {
  const { random = Math.random, silenceMs = 150_000 } = options;
  const connection = new ApiConnection(access, options);
  return {
    list: async (onNode, signal) => {
      let from: Readonly<Record<string, string>> = {};
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = new URLSearchParams({ limit: String(PAGE), ...from });
        const asked = { method: 'GET', path: `${PATH}?${query.toString()}`, what: LIST } as const;
        const { kind, metadata, items } = objectOf(await connection.ask(asked, signal));
        if (kind !== 'NodeList') throw unusable('found no NodeList');
        for (const node of Array.isArray(items) ? (items as unknown[]) : []) onNode(node);
        const { continue: next, resourceVersion } = objectOf(metadata);
        if (typeof next === 'string' && next !== '') from = { continue: next };
        else if (typeof resourceVersion === 'string' && resourceVersion !== '')
          return resourceVersion;
        else throw unusable('found no resourceVersion');
      }
      throw unusable(`found more than ${MAX_PAGES} pages`);
    },
    watch: async (version, onEvent, signal) => {
      const query = new URLSearchParams({
        ...{ allowWatchBookmarks: 'true', resourceVersion: version, watch: 'true' },
        timeoutSeconds: String(Math.floor(WATCH_S * (1 + random()))),
      });
      const asked = { method: 'GET', path: `${PATH}?${query.toString()}`, what: WATCH } as const;
      const answer = await connection.open(asked, signal);
      const message = `cannot ${WATCH}: nothing arrived for ${silenceMs} ms`;
      const silent = new NetError('timedOut', message);
      const timer = setTimeout(() => answer.end(silent), silenceMs);
      try {
        const parts = answer.body({ maxBytes: Infinity });
        for await (const event of readJsonLines(parts, () => timer.refresh())) {
          const { type, object } = objectOf(event);
          if (type === 'ERROR') {
            const { code } = objectOf(object);
            throw connection.refusal(WATCH, typeof code === 'number' ? code : 500, object);
          }
          if (typeof type === 'string') onEvent(type, object);
        }
      } catch (error) {
        // An exception from `onEvent` is not a connection failure.
        if (!(error instanceof NetError) && !(error instanceof AgentError)) throw error;
        throw connection.failure(error, WATCH, signal);
      } finally {
        clearTimeout(timer);
        answer.close();
      }
    },
    [Symbol.dispose]: () => connection.closeIdle(),
  };
}
