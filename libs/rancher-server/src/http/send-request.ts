/*
 * Node's own HTTP/1.1 over a connection that is opened for one request: each step of it can be told apart, a token goes over no
 * connection that something else was sent over, and nothing stays open.
 */
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { VERSION } from '@wins/wins-program';
import { RancherError } from '../rancher-error.js';
import type { CompleteSettings } from './http-settings.js';
import { networkFailure } from './network-failure.js';
import { hostAndPort, openConnection, type Roots } from './open-connection.js';
import type { RequestLifetime } from './request-lifetime.js';

/** PEM of the authorities that a certificate may be from; of a function where redirects may lead to other servers. */
type RootsFor = readonly string[] | ((url: URL) => readonly string[]);

/** What is asked of a server. A token is shown to one whose certificate is from `roots` alone. */
export interface Question {
  readonly url: URL;
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly authority:
    | { readonly roots: RootsFor; readonly token?: string }
    | { readonly roots: 'anyCertificate'; readonly token?: never };
  /** Without a proxy. */
  readonly isDirect?: boolean;
  /** What no message may repeat, beside the token. */
  readonly secrets?: readonly string[];
}

/** An answer whose body has not been read. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly response: IncomingMessage;
}

/**
 * Sends a request and resolves with the head of its answer, whatever its status; redirects are not followed.
 *
 * @throws RancherError
 */
export async function sendRequest(
  question: Question,
  settings: CompleteSettings,
  lifetime: RequestLifetime,
): Promise<Answer> {
  const secrets = secretsOf(question, settings);
  try {
    return await send(question, secrets, settings, lifetime);
  } catch (error) {
    const { what } = lifetime;
    const peer = hostAndPort(question.url);
    throw lifetime.cause ?? networkFailure(error, 'answer', { what, peer, secrets });
  }
}

/** What no message about a question may hold. */
export function secretsOf(
  { authority, secrets = [] }: Question,
  settings: CompleteSettings,
): readonly string[] {
  const all = [...settings.secrets, ...secrets];
  return authority.token === undefined ? all : [...all, authority.token];
}

async function send(
  { url, method = 'GET', headers, authority, isDirect = false }: Question,
  secrets: readonly string[],
  settings: CompleteSettings,
  lifetime: RequestLifetime,
): Promise<Answer> {
  const roots: Roots =
    typeof authority.roots === 'function' ? authority.roots(url) : authority.roots;
  const wanted = { url, roots, isDirect, secrets };
  const { socket, viaProxy } = await openConnection(wanted, settings, lifetime);
  const outgoing = request({
    method,
    path: viaProxy === undefined ? url.pathname + url.search : url.href,
    headers: {
      host: url.host,
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': `wins/${VERSION}`,
      ...headers,
      ...(authority.token !== undefined && { authorization: `Bearer ${authority.token}` }),
      ...(viaProxy?.authorization !== undefined && {
        'proxy-authorization': viaProxy.authorization,
      }),
    },
    createConnection: () => socket,
  });
  const peer = hostAndPort(url);
  const { answerMs } = settings.limits;
  const response = await lifetime.within(
    answerMs,
    `${peer} did not answer`,
    () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        // A server that changes the protocol makes Node close the connection without an error.
        const onClose = (): void => reject(new Error('it sent no answer'));
        outgoing.on('response', resolve).on('error', reject).on('close', onClose).end();
      }),
  );
  response.on('error', () => undefined);
  const { statusCode: status = 0 } = response;
  if (status === 407 && viaProxy !== undefined) {
    const message = `cannot ${lifetime.what}: the proxy wants a user and a password: found status 407; give them in HTTP_PROXY`;
    throw new RancherError('proxyFailed', message, { status });
  }
  return { url, status, headers: response.headers, response };
}
