import { once } from 'node:events';
import { createServer, request as forward, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { KeyPair } from '@wins/base/testing';

export interface ProxyRequest {
  readonly method: string;
  /** `host:port` for CONNECT, else the whole address. */
  readonly target: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
}

export interface ProxyOptions {
  /** The only user who may use the proxy. Default: everybody. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Maps a target `host:port` to a port of 127.0.0.1; other targets get status 502. */
  readonly hosts: Readonly<Record<string, number>>;
  /** Default: plain HTTP. */
  readonly tls?: KeyPair;
  /** Status of every answer. */
  readonly status?: number;
  /** Never answers. Default: false. */
  readonly isSilent?: boolean;
}

/** The caller closes the proxy. */
export interface ProxyDouble {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly requests: readonly ProxyRequest[];
  /** All bytes that clients sent through tunnels. */
  readonly tunnelled: () => Buffer;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startProxy(options: ProxyOptions): Promise<ProxyDouble> {
  const { user, hosts, tls, status, isSilent = false } = options;
  const requests: ProxyRequest[] = [];
  const passed: Buffer[] = [];
  const sockets = new Set<Duplex>();
  const wanted = user && `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`;
  const judge = (headers: IncomingHttpHeaders): number =>
    status ?? (wanted === undefined || headers['proxy-authorization'] === wanted ? 200 : 407);

  const server: Server = tls === undefined ? createServer() : createTlsServer(tls);
  const keep = (socket: Duplex): void => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('close', () => sockets.delete(socket));
  };
  server
    .on('connection', keep)
    .on('secureConnection', keep)
    .on('tlsClientError', () => undefined);
  server.on('connect', ({ url: target = '', headers }, client: Socket) => {
    requests.push({ method: 'CONNECT', target, headers });
    if (isSilent) return;
    const verdict = judge(headers);
    const port = hosts[target];
    if (verdict !== 200 || port === undefined) {
      const code = verdict === 200 ? 502 : verdict;
      const challenge = code === 407 ? 'Proxy-Authenticate: Basic realm="proxy"\r\n' : '';
      client.end(`HTTP/1.1 ${code} No\r\n${challenge}\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (part: Buffer) => passed.push(part));
      client.pipe(upstream).pipe(client);
    });
    keep(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.on('request', (incoming, response) => {
    const { method = '', url: target = '', headers } = incoming;
    requests.push({ method, target, headers });
    if (isSilent) return;
    const verdict = judge(headers);
    const { host, pathname, search } = new URL(target);
    const port = hosts[host.includes(':') ? host : `${host}:80`];
    if (verdict !== 200 || port === undefined) {
      response.writeHead(verdict === 200 ? 502 : verdict).end();
      return;
    }
    const { 'proxy-authorization': _left, ...others } = headers;
    const path = pathname + search;
    const outgoing = forward({ host: '127.0.0.1', port, method, path, headers: others });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy()).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    requests,
    tunnelled: () => Buffer.concat(passed),
    close,
    [Symbol.asyncDispose]: close,
  };
}
