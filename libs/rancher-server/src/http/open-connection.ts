import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import tls from 'node:tls';
import { ProxyAddressError, proxyOf } from '@wins/net';
import { RancherError } from '../rancher-error.js';
import type { CompleteSettings } from './http-settings.js';
import { networkFailure, type Stage } from './network-failure.js';
import { openProxyTunnel, proxyAuthorization } from './proxy-tunnel.js';
import type { RequestLifetime } from './request-lifetime.js';

/**
 * What the certificate of a server may be from: PEM of authorities, or `anyCertificate`, which proves nothing about who it is.
 */
export type Roots = readonly string[] | 'anyCertificate';

export interface ConnectionWanted {
  readonly url: URL;
  readonly roots: Roots;
  /** Asks the server itself, whatever the environment says. */
  readonly isDirect?: boolean;
  readonly secrets: readonly string[];
}

/** A connection over which a request can be sent. */
export interface Connection {
  readonly socket: Socket;
  /** What a proxy wants to see in the request itself, as it is not asked for a tunnel. */
  readonly viaProxy: { readonly authorization: string | undefined } | undefined;
}

/** The first address that answers is taken; each has so long before the next is tried beside it. */
const NEXT_ADDRESS_MS = 1000;

/**
 * Opens a connection for one request: name, TCP, proxy, TLS, each within `connectMs`.
 *
 * @throws RancherError whose code says which of them failed.
 */
export async function openConnection(
  wanted: ConnectionWanted,
  { environment, limits, systemRoots }: CompleteSettings,
  lifetime: RequestLifetime,
): Promise<Connection> {
  const { url, roots, secrets } = wanted;
  const step = async <T>(
    stage: Stage,
    peer: string,
    late: string,
    act: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await lifetime.within(limits.connectMs, late, act);
    } catch (error) {
      throw lifetime.cause ?? networkFailure(error, stage, { what: lifetime.what, peer, secrets });
    }
  };
  const startTls = (socket: Socket, to: URL, its: Roots, stage: Stage): Promise<Socket> =>
    step(stage, hostAndPort(to), `TLS with ${hostAndPort(to)} was not done`, async () => {
      const secured = lifetime.own(tls.connect({ socket, ...tlsOptions(to, its) }));
      secured.on('error', () => undefined);
      await once(secured, 'secureConnect');
      return secured;
    });

  const proxy = wanted.isDirect === true ? undefined : proxyTo(url, environment, lifetime.what);
  const first = proxy ?? url;
  const connected = await step(
    proxy === undefined ? 'connect' : 'proxy',
    hostAndPort(first),
    `no connection to ${proxy === undefined ? '' : 'the proxy '}${hostAndPort(first)}`,
    async () => {
      const opened = lifetime.own(new Socket());
      // What it says later is told by whoever waits for it then.
      opened.on('error', () => undefined);
      opened.connect({
        host: bareHost(first),
        port: portOf(first),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      });
      await once(opened, 'connect');
      return opened;
    },
  );
  if (proxy === undefined) {
    if (url.protocol === 'http:') return { socket: connected, viaProxy: undefined };
    return { socket: await startTls(connected, url, roots, 'tls'), viaProxy: undefined };
  }
  const toProxy =
    proxy.protocol === 'https:'
      ? await startTls(connected, proxy, systemRoots(), 'proxyTls')
      : connected;
  const authorization = proxyAuthorization(proxy);
  if (url.protocol === 'http:') return { socket: toProxy, viaProxy: { authorization } };
  const tunnel = await step(
    'proxy',
    hostAndPort(proxy),
    `the proxy ${hostAndPort(proxy)} did not answer`,
    () =>
      openProxyTunnel(toProxy, {
        ...{ target: hostAndPort(url), authorization, proxy: hostAndPort(proxy) },
        ...{ what: lifetime.what, secrets },
      }),
  );
  return { socket: await startTls(tunnel, url, roots, 'tls'), viaProxy: undefined };
}

function tlsOptions(url: URL, roots: Roots): tls.ConnectionOptions {
  const host = bareHost(url);
  return {
    host,
    // A server is not told an address as its name.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    ...(roots === 'anyCertificate'
      ? { rejectUnauthorized: false }
      : {
          rejectUnauthorized: true,
          ca: [...roots],
          // As Go: an authority in the list is trusted, also when another one has signed it.
          allowPartialTrustChain: true,
        }),
  };
}

function proxyTo(url: URL, environment: CompleteSettings['environment'], what: string) {
  try {
    const proxy = proxyOf(url, environment);
    return proxy === undefined ? undefined : new URL(proxy);
  } catch (error) {
    if (!(error instanceof ProxyAddressError)) throw error;
    throw new RancherError('invalidRequest', `cannot ${what}: ${error.message}`);
  }
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** `rancher.example:443`. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}
