import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createCertificateAuthority, type KeyPair } from '@wins/base/testing';
import { HttpClient, isNetError, type HttpSettings, type NetError } from '../index.js';
import { LeapingClock } from './leaping-clock.js';
import { startProxy, type ProxyDouble, type ProxyOptions } from './start-proxy.js';

const open: { close(): unknown }[] = [];

/** Call it in `afterEach`. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}

/** Each request goes to the next listener; the last listener also gets all later requests. */
export interface ServerDouble {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly port: number;
  readonly url: URL;
  readonly requests: readonly IncomingMessage[];
  readonly connections: () => number;
  /** Ends the connections with these numbers, from 1. */
  cut(isCut: (count: number) => boolean): void;
  /** Replaces the certificate. */
  present(pair: KeyPair | undefined): void;
  close(): Promise<void>;
}

export async function serve(
  listeners: readonly RequestListener[] = [(_request, response) => void response.end('ok')],
  tls?: KeyPair,
): Promise<ServerDouble> {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const next = listeners[Math.min(requests.length, listeners.length - 1)];
    requests.push(request);
    next?.(request, response);
  };
  const server: Server =
    tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  let isCut = (_count: number): boolean => false;
  server
    .on('connection', (socket: Socket) => {
      connections += 1;
      if (isCut(connections)) socket.destroy();
    })
    .on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const double = {
    host,
    port,
    requests,
    connections: () => connections,
    url: new URL(`${tls === undefined ? 'http' : 'https'}://${host}/`),
    cut: (chosen: typeof isCut) => void (isCut = chosen),
    present: (pair: KeyPair | undefined) => {
      if (server instanceof TlsServer && pair !== undefined) server.setSecureContext(pair);
    },
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  open.push(double);
  return double;
}

export async function proxy(options: ProxyOptions): Promise<ProxyDouble> {
  const started = await startProxy(options);
  open.push(started);
  return started;
}

/** The client has no authorities, proxy or real waits. */
export function clientOf(settings: HttpSettings = {}) {
  const warnings: string[] = [];
  const clock = new LeapingClock();
  const client = new HttpClient({
    environment: {},
    systemRoots: () => [],
    clock,
    random: () => 1,
    onWarning: (message) => void warnings.push(message),
    ...settings,
  });
  open.push(client);
  return { client, warnings, waits: clock.waits };
}

/** Rethrows errors other than `NetError`. */
export async function failureOf(promise: Promise<unknown>): Promise<NetError<string>> {
  const error = await promise.then(
    (value) => new Error(`it did not fail, but gave ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (isNetError(error)) return error;
  throw error;
}

/** Returns a TLS server and the PEM of each certificate in its chain. */
export async function serveTls(names: readonly string[] = ['127.0.0.1']) {
  const root = createCertificateAuthority('root');
  const between = createCertificateAuthority('between', root);
  const { cert, key } = between.issue('server', names);
  const server = await serve(undefined, { cert, key });
  return { server, root: root.cert, between: between.cert, leaf: cert };
}
