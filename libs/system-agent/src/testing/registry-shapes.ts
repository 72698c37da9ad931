/** How the registries that people have answer unknown clients, according to reports and their documentation. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A double of a registry that can play one. */
export interface PlayingRegistry {
  readonly url: string;
  /** Asked before anything else answers: true where it has answered. */
  gate: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** User known to all of them. */
export const REGISTRY_USER = { username: 'agent', password: 'canary%20word' };
export const IDENTITY_TOKEN = 'canary-identity';
const BASIC = `Basic ${Buffer.from(`${REGISTRY_USER.username}:${REGISTRY_USER.password}`).toString('base64')}`;
const BY_TOKEN = `Basic ${Buffer.from(`<token>:${IDENTITY_TOKEN}`).toString('base64')}`;

/** Makes a double play one; `storage` is another server that has the same blobs at the same paths. */
export type RegistryShape = (registry: PlayingRegistry, storage: PlayingRegistry) => void;

const isRoot = ({ url = '' }: IncomingMessage): boolean => /^\/v2\/(\?|$)/.test(url);

function refuse(response: ServerResponse, status: number, challenge?: string): true {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  response.writeHead(status, headers).end('{"errors":[]}');
  return true;
}

/** Gives out tokens at a path to who shows a password, and takes them. */
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
      // An unknown client gets a token that opens nothing.
      const isKnown = authorization === BASIC || authorization === BY_TOKEN;
      response.end(JSON.stringify(isKnown ? answer : { token: 'anonymous' }));
      return true;
    }
    return authorization === 'Bearer abc' ? false : unknown(request, response, challenge);
  };
}

/** 401 with a Bearer challenge for everything; both names of a token. */
const harbor: RegistryShape = (registry) =>
  byTokens(registry, '/service/token', { token: 'abc', access_token: 'abc' }, (_, response, how) =>
    refuse(response, 401, how),
  );

/** Hides private content as missing, without a challenge; the root wants a password. */
const nexus: RegistryShape = (registry) => {
  registry.gate = (request, response) =>
    request.headers.authorization !== BASIC &&
    (isRoot(request)
      ? refuse(response, 401, 'Basic realm="Sonatype Nexus"')
      : refuse(response, 404));
};

/** Forbids private content, without a challenge; gives tokens by the newer name, with an empty older one. */
const artifactory: RegistryShape = (registry) =>
  byTokens(registry, '/v2/token', { token: '', access_token: 'abc' }, (request, response, how) =>
    isRoot(request) ? refuse(response, 401, how) : refuse(response, 403),
  );

/** A password for everything; blobs lie in a storage that refuses a second way to say who one is. */
const ecr: RegistryShape = (registry, storage) => {
  registry.gate = (request, response) => {
    if (request.headers.authorization !== BASIC)
      return refuse(response, 401, `Basic realm="${registry.url}/",service="ecr.amazonaws.com"`);
    return toStorage(storage, request, response);
  };
  storage.gate = ({ headers }, response) =>
    headers.authorization !== undefined && refuse(response, 400);
};

/** Asks for a User-Agent as well, at its server of tokens too. */
const ghcr: RegistryShape = (registry, storage) => {
  harbor(registry, storage);
  const { gate } = registry;
  registry.gate = (request, response) => {
    if (!/^wins\/\S+$/.test(request.headers['user-agent'] ?? '')) return refuse(response, 403);
    return gate(request, response) || toStorage(storage, request, response);
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
};
