import { messageOf, parseListenAddress, quoteText } from '@wins/base';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { FeatureError } from '../../kernel/feature-error.js';

/** At the limit, a new connection replaces the oldest idle one, or is closed if none is idle. */
const MOST_CONNECTIONS = 16;
const HEADER_BYTES = 8 * 1024;
const HEADERS_MS = 5_000;
/** Idle time-out; Prometheus keeps its connection between scrapes. */
const IDLE_MS = 90_000;
const REQUESTS_OF_CONNECTION = 10_000;

export interface ServeMetricsOptions {
  /** Such as `127.0.0.1:9797` or `[::1]:9797`. With port 0 the system chooses a port. */
  readonly listen: string;
  readonly contentType: string;
  /** Called for each request, so it must limit its own work. */
  readonly scrape: () => Promise<string>;
  /** Time limit from a request to the last byte of its answer. Default 10,000. */
  readonly answerMs?: number;
}

/** Its disposal stops listening and closes open connections. Idempotent. */
export interface MetricsListener extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

/**
 * Serves `GET /metrics` only. Clients are not authenticated, so the config requires a loopback address unless `allowRemote` is set.
 * @throws FeatureError `listenFailed`.
 */
export async function serveMetrics(options: ServeMetricsOptions): Promise<MetricsListener> {
  const connections = new ConnectionLimit();
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: HEADERS_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      connections.busy(request.socket, response);
      // `answer` rejects if it cannot even send an error response. An unhandled rejection would end the program.
      answer(request, response, options).catch(() => response.destroy());
    },
  );
  server.maxRequestsPerSocket = REQUESTS_OF_CONNECTION;
  server.on('connection', (socket) => connections.enter(socket));
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    const fail = (found: string, cause?: Error): void => {
      const message = `cannot listen for metrics on ${quoteText(options.listen)}: ${found}`;
      reject(new FeatureError('listenFailed', message, { cause }));
    };
    const address = parseListenAddress(options.listen);
    if (address === undefined) {
      fail('wanted an IP address and a port');
      return;
    }
    server.once('error', (cause) => fail(messageOf(cause), cause));
    const { host, port } = address;
    server.listen({ host, port, exclusive: true }, resolve);
  });
  server.on('error', () => undefined);
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    port: bound.port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { scrape, contentType, answerMs = 10_000 }: ServeMetricsOptions,
): Promise<void> {
  request.resume();
  const deadline = setTimeout(() => response.destroy(), answerMs).unref();
  response.once('close', () => clearTimeout(deadline));
  const [path] = (request.url ?? '').split('?');
  if (path !== '/metrics') {
    refuse(response, 404, 'wanted /metrics');
    return;
  }
  if (request.method !== 'GET') {
    response.setHeader('allow', 'GET');
    refuse(response, 405, 'wanted GET');
    return;
  }
  try {
    const text = await scrape();
    response.writeHead(200, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(text),
      'x-content-type-options': 'nosniff',
    });
    response.end(text);
  } catch {
    refuse(response, 500, 'cannot read the metrics');
  }
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${text}\n`);
}

class ConnectionLimit {
  readonly #idle = new Set<Socket>();
  readonly #busy = new Set<Socket>();

  enter(socket: Socket): void {
    if (this.#idle.size + this.#busy.size >= MOST_CONNECTIONS) {
      const [oldest] = this.#idle;
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      this.#idle.delete(oldest);
      oldest.destroy();
    }
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#busy.delete(socket);
    });
  }

  busy(socket: Socket, response: ServerResponse): void {
    this.#idle.delete(socket);
    this.#busy.add(socket);
    response.once('close', () => {
      if (this.#busy.delete(socket) && !socket.destroyed) this.#idle.add(socket);
    });
  }
}
