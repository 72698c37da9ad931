import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { NetError } from '../net-error.js';

export interface TunnelWanted {
  readonly target: string;
  readonly authorization: string | undefined;
  /** `host:port` of the proxy, for messages. */
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
  // 502 to 504: the proxy did not reach the server, which may return soon.
  return new NetError('proxyFailed', message, { status, isTransient: status >= 500 });
}
