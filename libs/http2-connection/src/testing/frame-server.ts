import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServedStream } from '../served-stream.js';
import { OctetBudget } from '../octet-budget.js';
import type { RequestHeaders } from '../request-headers.js';
import { serveHttp2Connection, type Http2Connection } from '../serve-http2-connection.js';
import type { Http2Limits } from '../connection-limits.js';

/** What handlers do in the place of gRPC: echo the messages of a request when it is whole. */
export function echo(stream: ServedStream): void {
  const messages: Buffer[] = [];
  stream.on('data', (message: Buffer) => messages.push(message));
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'x' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
    for (const message of messages) stream.write(message);
    stream.end();
  });
}

/** How a {@link FrameServer} serves. */
export interface FrameServerOptions {
  readonly limits?: Partial<Http2Limits>;
  readonly onStream?: (stream: ServedStream, headers: RequestHeaders) => void;
  readonly hasOneRequest?: (path: string) => boolean;
  readonly inbound?: OctetBudget;
  readonly outbound?: OctetBudget;
}

/** For specs: serves connections on a socket path, and remembers what became of them. */
export class FrameServer implements AsyncDisposable {
  readonly inbound: OctetBudget;
  readonly outbound: OctetBudget;
  readonly connections: Http2Connection[] = [];
  readonly streams: ServedStream[] = [];
  readonly requests: RequestHeaders[] = [];
  readonly reasons: string[] = [];
  readonly failures: unknown[] = [];
  /** Sockets that the server still has: the places. */
  places = 0;
  #changed: (() => void)[] = [];

  readonly #folder: string;
  readonly #listener: Server;

  private constructor(
    readonly address: string,
    folder: string,
    listener: Server,
    options: FrameServerOptions,
  ) {
    this.#folder = folder;
    this.#listener = listener;
    this.inbound = options.inbound ?? new OctetBudget(64 * 1024 * 1024);
    this.outbound = options.outbound ?? new OctetBudget(128 * 1024 * 1024);
    listener.on('connection', (socket) => {
      this.places += 1;
      socket.once('close', () => {
        this.places -= 1;
        this.#tell();
      });
      const onStream = options.onStream ?? echo;
      const connection = serveHttp2Connection(socket, {
        ...{ inbound: this.inbound, outbound: this.outbound },
        peer: { remoteAddress: 'pipe', remotePort: this.connections.length + 1 },
        ...(options.limits && { limits: options.limits }),
        ...(options.hasOneRequest && { hasOneRequest: options.hasOneRequest }),
        onStream: (stream, headers) => {
          stream.on('close', () => this.#tell());
          this.streams.push(stream);
          this.requests.push(headers);
          onStream(stream, headers);
          this.#tell();
        },
        onFailure: (error) => this.failures.push(error),
        onEnd: (reason) => {
          this.reasons.push(reason);
          this.#tell();
        },
      });
      this.connections.push(connection);
      this.#tell();
    });
  }

  static async listen(options: FrameServerOptions = {}): Promise<FrameServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-http2-'));
    const address = path.join(folder, 's');
    const listener = createServer();
    const server = new FrameServer(address, folder, listener, options);
    listener.listen(address);
    await once(listener, 'listening');
    return server;
  }

  /** Resolves once it is so; looked at when something changes. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
    this.#listener.close();
    await once(this.#listener, 'close');
    rmSync(this.#folder, { recursive: true });
  }

  #tell(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}
