/** How common registries answer unknown clients, according to their documentation and to reports. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface PlayingRegistry {
  readonly url: string;
  /** Called first for each request; returns true if it has answered. */
  gate: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** All registries know this user. */
export const REGISTRY_USER = { username: 'agent', password: 'canary%20word' };
export const IDENTITY_TOKEN = 'canary-identity';
const BASIC = `Basic ${Buffer.from(`${REGISTRY_USER.username}:${REGISTRY_USER.password}`).toString('base64')}`;
const BY_TOKEN = `Basic ${Buffer.from(`<token>:${IDENTITY_TOKEN}`).toString('base64')}`;

/** `storage`: another server with the same blobs at the same paths. */
export type RegistryShape = (registry: PlayingRegistry, storage: PlayingRegistry) => void;

const isRoot = ({ url = '' }: IncomingMessage): boolean => /^\/v2\/(\?|$)/.test(url);

function refuse(response: ServerResponse, status: number, challenge?: string): true {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  response.writeHead(status, headers).end('{"errors":[]}');
  return true;
}

/** Below the path `at`, a known client gets `answer`. Requests to other paths need the token `abc`. */
function byTokens(
  registry: PlayingRegistry,
  at: string,
  answer: object,
  unknown: (request: IncomingMessage, response: ServerResponse, challenge: string) => true,
): void {
  const challenge = `Bearer realm="${registry.url}${at}",service="test"`;
  registry.gate = (request, response) => {
    const { authorization } = request.headers;
    if (request.url?.startsWith(at) === true) {
      if (request.method !== 'GET') return refuse(response, 404);
      // An unknown client gets a token without access.
      const isKnown = authorization === BASIC || authorization === BY_TOKEN;
      response.end(JSON.stringify(isKnown ? answer : { token: 'anonymous' }));
      return true;
    }
    return authorization === 'Bearer abc' ? false : unknown(request, response, challenge);
  };
}

/** Answers unknown clients with 401 and a Bearer challenge. Sends the token twice, as `token` and `access_token`. */
const harbor: RegistryShape = (registry) =>
  byTokens(registry, '/service/token', { token: 'abc', access_token: 'abc' }, (_, response, how) =>
    refuse(response, 401, how),
  );

/** Without the password, answers 401 with a challenge at the root, and 404 elsewhere. */
const nexus: RegistryShape = (registry) => {
  registry.gate = (request, response) =>
    request.headers.authorization !== BASIC &&
    (isRoot(request)
      ? refuse(response, 401, 'Basic realm="Sonatype Nexus"')
      : refuse(response, 404));
};

/** Answers 403 for private content, without a challenge. Sends the token as `access_token` and leaves `token` empty. */
const artifactory: RegistryShape = (registry) =>
  byTokens(registry, '/v2/token', { token: '', access_token: 'abc' }, (request, response, how) =>
    isRoot(request) ? refuse(response, 401, how) : refuse(response, 403),
  );

/** Requires a password for everything. Redirects blobs to a storage that refuses an `Authorization` header. */
const ecr: RegistryShape = (registry, storage) => {
  registry.gate = (request, response) => {
    if (request.headers.authorization !== BASIC)
      return refuse(response, 401, `Basic realm="${registry.url}/",service="ecr.amazonaws.com"`);
    return toStorage(storage, request, response);
  };
  storage.gate = ({ headers }, response) =>
    headers.authorization !== undefined && refuse(response, 400);
};

/** Like `harbor`, but requires a User-Agent, even at its token server. */
const ghcr: RegistryShape = (registry, storage) => {
  harbor(registry, storage);
  const { gate } = registry;
  registry.gate = (request, response) => {
    if (!/^wins\/\S+$/.test(request.headers['user-agent'] ?? '')) return refuse(response, 403);
    return gate(request, response) || toStorage(storage, request, response);
  };
};

const PLACEHOLDER = 'repository:user/image:pull';

/** Hides content from unknown clients. The challenge of its root has the scope of a placeholder, which its token server refuses. */
const placeholder: RegistryShape = (registry) => {
  byTokens(registry, '/token', { token: 'abc' }, (request, response, how) =>
    isRoot(request)
      ? refuse(response, 401, `${how},scope="${PLACEHOLDER}"`)
      : refuse(response, 404),
  );
  const { gate } = registry;
  registry.gate = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', registry.url);
    const isRefused = pathname === '/token' && searchParams.get('scope') === PLACEHOLDER;
    return isRefused ? refuse(response, 403) : gate(request, response);
  };
};

function toStorage(
  storage: PlayingRegistry,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (!url.includes('/blobs/')) return false;
  response.writeHead(307, { location: `${storage.url}${url}?signature=1` }).end();
  return true;
}

export const REGISTRY_SHAPES: Readonly<Record<string, RegistryShape>> = {
  Harbor: harbor,
  Nexus: nexus,
  Artifactory: artifactory,
  ECR: ecr,
  GHCR: ghcr,
  'one with a placeholder': placeholder,
};
