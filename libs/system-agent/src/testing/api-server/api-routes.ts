import type { ServerResponse } from 'node:http';
import type { ApiRequest } from './api-fault.js';
import {
  ApiFailure,
  deleted,
  failure,
  forbidden,
  tooLargeVersion,
  unauthorized,
} from './api-status.js';
import type { NodeTable } from './node-table.js';
import type { SecretDraft, SecretTable } from './secret-table.js';
import { serveWatch, type WatchOptions } from './serve-watch.js';

export interface ApiUser {
  readonly name: string;
  /** Secrets that the user may get, list by name, watch and update. Absent: everything is allowed. */
  readonly secrets?: readonly string[];
  readonly isReader?: boolean;
  /** Verbs for nodes. Absent: everything is allowed. */
  readonly nodeVerbs?: readonly string[];
}

export interface RouteOptions extends WatchOptions {
  readonly table: SecretTable;
  readonly nodes: NodeTable;
  /** Undefined: no credentials. False: wrong credentials. */
  readonly userOf: (request: ApiRequest) => ApiUser | undefined | false;
}

const READER_VERBS = new Set(['get', 'list', 'watch']);
const AGENT_VERBS = new Set([...READER_VERBS, 'update']);
const SECRETS = /^\/api\/v1\/namespaces\/([^/]+)\/secrets(?:\/([^/]+))?$/;

export function route(request: ApiRequest, response: ServerResponse, options: RouteOptions): void {
  try {
    answerOrThrow(request, response, options);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    send(response, error.status.code, error.status, error.headers);
  }
}

function answerOrThrow(request: ApiRequest, response: ServerResponse, options: RouteOptions): void {
  const user = options.userOf(request);
  if (user === false) throw unauthorized();
  if (request.path === '/version') {
    send(response, 200, VERSION);
    return;
  }
  if (user === undefined) throw unauthorized();
  if (request.path === '/api/v1/nodes') {
    answerNodes(request, response, user, options);
    return;
  }
  const [, namespace, name] = SECRETS.exec(request.path) ?? [];
  if (namespace === undefined) {
    throw failure(404, 'NotFound', 'the server could not find the requested resource', {});
  }
  const { table } = options;
  const isWatch = request.query.get('watch') === 'true';
  const verb = verbOf(request.method, name, isWatch);
  const asked = name ?? selectedName(request);
  const isAllowed =
    user.secrets === undefined ||
    (asked !== undefined && verbsOf(user).has(verb) && user.secrets.includes(asked));
  if (!isAllowed) throw forbidden(user.name, verb, namespace, asked);

  if (verb === 'watch') {
    serveWatch(request, response, { kind: 'Secret', table, namespace, name: asked }, options);
    return;
  }
  const manager = request.headers['user-agent']?.split(/[/ ]/, 1)[0] ?? '';
  const body = answer(verb, request, namespace, name ?? '', table, manager);
  send(response, verb === 'create' ? 201 : 200, body);
}

function answer(
  verb: string,
  request: ApiRequest,
  namespace: string,
  name: string,
  table: SecretTable,
  manager: string,
): object {
  switch (verb) {
    case 'get':
      return table.get(namespace, name);
    case 'list':
      return list(request, namespace, selectedName(request), table);
    case 'create':
      return table.create(draftOf(request, namespace), manager);
    case 'update':
      return table.replace(draftOf(request, namespace), manager, isDryRun(request));
    case 'delete': {
      const { metadata } = table.remove(namespace, name, manager);
      return deleted(metadata.name, metadata.uid);
    }
    default:
      throw failure(405, 'MethodNotAllowed', 'the server does not allow this method');
  }
}

function answerNodes(
  request: ApiRequest,
  response: ServerResponse,
  user: ApiUser,
  options: RouteOptions,
): void {
  const { query } = request;
  const { nodes } = options;
  const verb = query.get('watch') === 'true' ? 'watch' : 'list';
  if (user.nodeVerbs?.includes(verb) === false) {
    const message = `nodes is forbidden: User "${user.name}" cannot ${verb} resource "nodes" in API group "" at the cluster scope`;
    throw failure(403, 'Forbidden', message, { kind: 'nodes' });
  }
  if (verb === 'watch') {
    const collection = { kind: 'Node', table: nodes, namespace: '', name: undefined } as const;
    serveWatch(request, response, collection, options);
    return;
  }
  const start = Number(query.get('continue') ?? 0);
  const all = nodes.list();
  const end = start + Number(query.get('limit') ?? Infinity);
  const items = all.slice(start, end).map(({ kind: _kind, ...item }) => item);
  const metadata = {
    resourceVersion: String(nodes.version),
    ...(end < all.length && { continue: String(end) }),
  };
  send(response, 200, { kind: 'NodeList', apiVersion: 'v1', metadata, items });
}

function verbsOf({ isReader }: ApiUser): ReadonlySet<string> {
  return isReader === true ? READER_VERBS : AGENT_VERBS;
}

function verbOf(method: string, name: string | undefined, isWatch: boolean): string {
  if (method === 'GET') return isWatch ? 'watch' : name === undefined ? 'list' : 'get';
  return { POST: 'create', PUT: 'update', DELETE: 'delete', PATCH: 'patch' }[method] ?? method;
}

function isDryRun({ query }: ApiRequest): boolean {
  return query.get('dryRun') === 'All';
}

function selectedName({ query }: ApiRequest): string | undefined {
  return /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}

function draftOf({ body }: ApiRequest, namespace: string): SecretDraft {
  const draft = JSON.parse(body.toString()) as SecretDraft;
  return { ...draft, metadata: { ...draft.metadata, namespace } };
}

function list(
  { query }: ApiRequest,
  namespace: string,
  name: string | undefined,
  table: SecretTable,
): object {
  const asked = Number(query.get('resourceVersion') ?? 0);
  if (asked > table.version) throw tooLargeVersion(asked, table.version);
  const items = table
    .list(namespace, name)
    .map(({ kind: _kind, apiVersion: _version, ...item }) => item);
  const metadata = { resourceVersion: String(table.version) };
  return { kind: 'SecretList', apiVersion: 'v1', metadata, items };
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'cache-control': 'no-cache, private',
    'content-type': 'application/json',
    ...headers,
    'content-length': bytes.length,
  });
  response.end(bytes);
}

const VERSION = {
  major: '1',
  minor: '35',
  emulationMajor: '1',
  emulationMinor: '35',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '34',
  gitVersion: 'v0.0.0-master+5019821e0eb2f9a74e00e2aab215144336c4b981',
  gitCommit: '5019821e0eb2f9a74e00e2aab215144336c4b981',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.26.10',
  compiler: 'gc',
  platform: 'linux/amd64',
};
