import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errnoOf } from '@wins/base';
import { NetError } from '../net-error.js';
import type { TlsTrust } from '../trust/tls-trust.js';
import { basicAuthorization } from './basic-authorization.js';
import type { ConnectionPool, PooledOptions } from './connection-pool.js';
import type { CompleteSettings } from './http-settings.js';
import type { RedirectRule } from './judge-redirect.js';
import { hostAndPort, openConnection, proxyTo } from './open-connection.js';
import type { RequestLifetime } from './request-lifetime.js';

/** Node's default, stated because this library relies on it. */
export const MAX_HEAD_BYTES = 16_384;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT']);

/** A request, with the certificates to trust and the redirects to follow. */
export interface HttpRequest {
  readonly url: URL;
  /** Default: `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** Whether the request may be sent twice. Default: true except for `POST`. */
  readonly isRepeatable?: boolean | undefined;
  /** Trusted certificates. Use a function if redirects may lead to other servers. */
  readonly trust: TlsTrust | ((url: URL) => TlsTrust | Promise<TlsTrust>);
  /** The `Authorization` header, sent only to the origin of `url`. */
  readonly authorization?: string | undefined;
  /**
   * Rule for redirects. Default: `withinOrigin` if `authorization` is set, or if `trust` accepts any certificate;
   * otherwise `securely`. `none` returns redirects as answers.
   */
  readonly redirects?: RedirectRule | 'none' | undefined;
  /** Use no proxy, whatever the environment says. */
  readonly isDirect?: boolean | undefined;
  /** Texts that messages must not contain, in addition to the authorization. */
  readonly secrets?: readonly string[] | undefined;
}

export function secretsOf(
  { authorization, secrets = [] }: HttpRequest,
  settings: CompleteSettings,
): readonly string[] {
  const shown = authorization?.replace(/^\w+ +/, '');
  return [...settings.secrets, ...secrets, ...(shown === undefined ? [] : [shown])];
}

export function isRepeatable({ method = 'GET', isRepeatable: own }: HttpRequest): boolean {
  return own ?? IDEMPOTENT.has(method);
}

/** Resolves with the headers of any answer; follows no redirects. @throws NetError */
export async function sendRequest(
  asked: HttpRequest,
  url: URL,
  settings: CompleteSettings,
  { pool, lifetime }: { readonly pool: ConnectionPool; readonly lifetime: RequestLifetime },
): Promise<IncomingMessage> {
  const { what } = lifetime.facts;
  const peer = hostAndPort(url);
  const proxy = asked.isDirect === true ? undefined : proxyTo(url, settings.environment, what);
  const { trust: trustOrRule } = asked;
  const trust = typeof trustOrRule === 'function' ? await trustOrRule(url) : trustOrRule;
  const poolName = pool.nameOf(url, trust, proxy);
  const isAskedItself = proxy !== undefined && url.protocol === 'http:';
  for (;;) {
    const opened = pool.hasKept(poolName)
      ? undefined
      : await openConnection({ url, trust, proxy }, settings, lifetime);
    const outgoing = requestBy(opened);
    try {
      return await answerOf(outgoing);
    } catch (error) {
      // The server closed the kept connection, perhaps after reading the request: retry only a repeatable request.
      const isStale =
        outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(errnoOf(error) ?? '');
      if (!isStale || lifetime.isOver || !isRepeatable(asked))
        throw lifetime.failure(error, 'answer', peer);
      pool.endKept(poolName);
    }
  }

  function requestBy(opened: Socket | undefined): ClientRequest {
    const { method = 'GET', headers, authorization, body } = asked;
    const shown = isAskedItself ? basicAuthorization(proxy) : undefined;
    let unused = opened;
    const take = (): Socket | undefined => {
      unused = undefined;
      return opened;
    };
    const pooled: PooledOptions = { poolName, opened: take };
    const outgoing = request({
      method,
      path: isAskedItself ? url.href : url.pathname + url.search,
      headers: {
        host: url.host,
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': settings.userAgent,
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        ...(authorization !== undefined && url.origin === asked.url.origin && { authorization }),
        ...(shown !== undefined && { 'proxy-authorization': shown }),
      },
      agent: pool,
      maxHeaderSize: MAX_HEAD_BYTES,
      ...pooled,
    });
    // Without a listener, the error of a cancelled request would end the process. `answerOf` handles other errors.
    outgoing.on('error', () => undefined);
    lifetime.handOver(outgoing);
    // Close the new connection if the request took a kept one.
    unused?.destroy();
    return outgoing;
  }

  async function answerOf(outgoing: ClientRequest): Promise<IncomingMessage> {
    const { answerMs } = settings.limits;
    const response = await lifetime.within(
      answerMs,
      `${peer} did not answer`,
      () =>
        new Promise<IncomingMessage>((resolve, reject) => {
          // When a server switches protocols, Node closes the connection without an error.
          const onClose = (): void => reject(new Error('it sent no answer'));
          outgoing.on('response', resolve).on('error', reject).on('close', onClose).end(asked.body);
        }),
    );
    response.on('error', () => undefined);
    const { statusCode: status = 0 } = response;
    if (status === 407 && isAskedItself) {
      const message = `cannot ${what}: the proxy wants a user and a password (status 407). Set them in HTTP_PROXY`;
      throw new NetError('proxyFailed', message, { status });
    }
    return response;
  }
}
