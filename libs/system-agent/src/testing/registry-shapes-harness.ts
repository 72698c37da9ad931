/** How the registries that people have answer whom they do not know, as reports and their documentation tell it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RegistryDouble } from './registry-harness.js';

export const USER = { username: 'agent', password: 'canary%20word' };
export const IDENTITY_TOKEN = 'canary-identity';
const BASIC = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`;
const BY_TOKEN = `Basic ${Buffer.from(`<token>:${IDENTITY_TOKEN}`).toString('base64')}`;

/** Makes a double play one; `storage` is another server that blobs lie on. */
export type Shape = (registry: RegistryDouble, storage: RegistryDouble) => void;

const isRoot = ({ url = '' }: IncomingMessage): boolean => /^\/v2\/(\?|$)/.test(url);

function refuse(response: ServerResponse, status: number, challenge?: string): true {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  response.writeHead(status, headers).end('{"errors":[]}');
  return true;
}

/** Gives out tokens at a path to who shows a password, and takes them. */
function byTokens(
  registry: RegistryDouble,
  at: string,
  answer: object,
  unknown: (request: IncomingMessage, response: ServerResponse, challenge: string) => true,
): void {
  const challenge = `Bearer realm="${registry.url}${at}",service="test"`;
  registry.gate = (request, response) => {
    const { authorization } = request.headers;
    if (request.url?.startsWith(at) === true) {
      if (request.method !== 'GET') return refuse(response, 404);
      // Whom it does not know gets one that opens nothing.
      const isKnown = authorization === BASIC || authorization === BY_TOKEN;
      response.end(JSON.stringify(isKnown ? answer : { token: 'anonymous' }));
      return true;
    }
    return authorization === 'Bearer abc' ? false : unknown(request, response, challenge);
  };
}

/** 401 with a Bearer challenge for everything; both names of a token. */
const harbor: Shape = (registry) =>
  byTokens(registry, '/service/token', { token: 'abc', access_token: 'abc' }, (_, response, how) =>
    refuse(response, 401, how),
  );

/** What is private is not there, without a challenge; the root wants a password. */
const nexus: Shape = (registry) => {
  registry.gate = (request, response) =>
    request.headers.authorization !== BASIC &&
    (isRoot(request)
      ? refuse(response, 401, 'Basic realm="Sonatype Nexus"')
      : refuse(response, 404));
};

/** What is private is forbidden, without a challenge; tokens by the newer name, with an empty older one. */
const artifactory: Shape = (registry) =>
  byTokens(registry, '/v2/token', { token: '', access_token: 'abc' }, (request, response, how) =>
    isRoot(request) ? refuse(response, 401, how) : refuse(response, 403),
  );

/** A password for everything; blobs lie in a storage that refuses a second way to say who one is. */
const ecr: Shape = (registry, storage) => {
  registry.gate = (request, response) => {
    if (request.headers.authorization !== BASIC)
      return refuse(response, 401, `Basic realm="${registry.url}/",service="ecr.amazonaws.com"`);
    return toStorage(registry, storage, request, response);
  };
  storage.gate = ({ headers }, response) =>
    headers.authorization !== undefined && refuse(response, 400);
};

/** Asks for a User-Agent as well, at its server of tokens too. */
const ghcr: Shape = (registry, storage) => {
  harbor(registry, storage);
  const { gate } = registry;
  registry.gate = (request, response) => {
    if (!/^wins\/\S+$/.test(request.headers['user-agent'] ?? '')) return refuse(response, 403);
    return gate(request, response) || toStorage(registry, storage, request, response);
  };
};

function toStorage(
  registry: RegistryDouble,
  storage: RegistryDouble,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const name = url.slice('/v2/'.length);
  const bytes = registry.content.get(name);
  if (!url.includes('/blobs/') || bytes === undefined) return false;
  storage.content.set(name, bytes);
  response.writeHead(307, { location: `${storage.url}${url}?signature=1` }).end();
  return true;
}

export const SHAPES: Readonly<Record<string, Shape>> = {
  Harbor: harbor,
  Nexus: nexus,
  Artifactory: artifactory,
  ECR: ecr,
  GHCR: ghcr,
};
