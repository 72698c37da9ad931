import { once } from 'node:events';
import { Socket } from 'node:net';
import tls from 'node:tls';
import { isNetError, NetError } from '../net-error.js';
import { proxyOf } from '../proxy/proxy-of.js';
import type { TlsTrust } from '../trust/tls-trust.js';
import { handshake, openVerified } from '../trust/verified-connection.js';
import { basicAuthorization } from './basic-authorization.js';
import type { CompleteSettings } from './http-settings.js';
import type { Stage } from './network-failure.js';
import type { RequestLifetime } from './request-lifetime.js';
import { request, type IncomingMessage } from 'node:http';

export interface ConnectionWanted {
  readonly url: URL;
  readonly trust: TlsTrust;
  readonly proxy: URL | undefined;
}

/** Delay before the next address of a server is tried in parallel. */
export const NEXT_ADDRESS_MS = 1000;

/** Silence after which TCP asks whether the peer lives. It also keeps devices on the way from forgetting an idle connection. */
const SILENT_MS = 20_000;

/** Each step takes at most `connectMs`. @throws NetError whose code identifies the failed step. */
export async function openConnection(
  { url, trust, proxy }: ConnectionWanted,
  { limits, systemRoots }: CompleteSettings,
  lifetime: RequestLifetime,
): Promise<Socket> {
  const step = async <T>(stage: Stage, peer: string, late: string, action: () => Promise<T>) => {
    try {
      return await lifetime.within(limits.connectMs, late, action);
    } catch (error) {
      throw lifetime.failure(error, stage, peer);
    }
  };
  /** @param connect - Opens a transport: a refused certificate closes it, and the next try needs another one. */
  const startTls = async (
    connect: () => Promise<Socket>,
    to: URL,
    its: TlsTrust,
    stage: Stage,
  ): Promise<Socket> => {
    const late = `the TLS handshake with ${hostAndPort(to)} did not finish`;
    const open = async (options: tls.ConnectionOptions): Promise<tls.TLSSocket> => {
      const socket = await connect();
      return await lifetime.within(limits.connectMs, late, () => {
        const secured = lifetime.own(tls.connect({ socket, ...options }));
        // Without a listener, a later error would end the process. The code that waits on the socket reports it.
        secured.on('error', () => undefined).once('close', () => socket.destroy());
        return handshake(secured);
      });
    };
    try {
      const server = { host: bareHost(to), port: portOf(to) };
      return await openVerified(its, server, { open, examine: open });
    } catch (error) {
      throw lifetime.failure(error, stage, hostAndPort(to));
    }
  };

  const first = proxy ?? url;
  // One object for all tries, because it keeps what has verified the proxy.
  const trustOfProxy: TlsTrust = { roots: proxy?.protocol === 'https:' ? systemRoots() : [] };
  const connectToFirst = (): Promise<Socket> =>
    step(
      proxy === undefined ? 'connect' : 'proxy',
      hostAndPort(first),
      `no connection to ${proxy === undefined ? '' : 'the proxy '}${hostAndPort(first)}`,
      async () => {
        const opened = lifetime.own(new Socket());
        opened.on('error', () => undefined);
        opened.connect({
          host: bareHost(first),
          port: portOf(first),
          autoSelectFamily: true,
          autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
        });
        await once(opened, 'connect');
        // A dead peer is noticed within 30 s: Node sends ten probes, one a second.
        opened.setKeepAlive(true, SILENT_MS);
        return opened;
      },
    );
  const toFirst = async (): Promise<Socket> =>
    proxy?.protocol === 'https:'
      ? await startTls(connectToFirst, proxy, trustOfProxy, 'proxyTls')
      : await connectToFirst();
  if (url.protocol === 'http:') return await toFirst();
  if (proxy === undefined) return await startTls(toFirst, url, trust, 'tls');
  const tunnelled = async (): Promise<Socket> => {
    const socket = await toFirst();
    return await step(
      'proxy',
      hostAndPort(proxy),
      `the proxy ${hostAndPort(proxy)} did not answer`,
      () =>
        openProxyTunnel(socket, {
          target: hostAndPort(url),
          authorization: basicAuthorization(proxy),
          proxy: hostAndPort(proxy),
          what: lifetime.facts.what,
        }),
    );
  };
  return await startTls(tunnelled, url, trust, 'tls');
}
/** @throws NetError `invalidRequest`. */
export function proxyTo(url: URL, environment: CompleteSettings['environment'], what: string) {
  try {
    const proxy = proxyOf(url, environment);
    return proxy === undefined ? undefined : new URL(proxy);
  } catch (error) {
    throw isNetError(error) ? error.reworded(`cannot ${what}: ${error.message}`) : error;
  }
}

export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** Returns, for example, `rancher.example:443`. */
export const hostAndPort = (url: URL): string => `${url.hostname}:${portOf(url)}`;

export interface TunnelWanted {
  readonly target: string;
  readonly authorization: string | undefined;
  readonly proxy: string;
  readonly what: string;
}

/**
 * CONNECT (RFC 9110 9.3.6). @throws NetError `proxyFailed` for any answer but 2xx; connection errors pass unchanged.
 */
export async function openProxyTunnel(socket: Socket, wanted: TunnelWanted): Promise<Socket> {
  const { target, authorization } = wanted;
  const outgoing = request({
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
    createConnection: () => socket,
  });
  return await new Promise((resolve, reject) => {
    const onConnect = ({ statusCode = 0 }: IncomingMessage, tunnel: Socket, head: Buffer): void => {
      if (statusCode < 200 || statusCode > 299) {
        reject(refusal(statusCode, wanted));
        return;
      }
      if (head.length > 0) tunnel.unshift(head);
      resolve(tunnel);
    };
    outgoing.on('connect', onConnect).on('error', reject);
    outgoing.on('close', () => reject(new Error('it ended the connection'))).end();
  });
}

function refusal(status: number, { what, proxy, target }: TunnelWanted): NetError {
  const next =
    status === 407
      ? '. Set valid credentials in HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT'
      : `. Check that it allows ${target}`;
  const message = `cannot ${what}: the proxy ${proxy} answered with status ${status}; wanted 200${next}`;
  // A 5xx status means that the proxy did not reach the server. The server may be available again soon.
  return new NetError('proxyFailed', message, { status, isTransient: status >= 500 });
}
