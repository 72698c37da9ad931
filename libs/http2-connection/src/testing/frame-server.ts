import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServedStream } from '../served-stream.js';
import type { OctetAccount, OctetPool } from '../octet-pool.js';
import type { RequestHeaders } from '../request-headers.js';
import { serveHttp2Connection, type Http2Connection } from '../serve-http2-connection.js';
import type { Http2Limits } from '../connection-limits.js';

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

export class CountingPool implements OctetPool {
  readonly #accounts = new Map<OctetAccount, () => void>();

  get held(): number {
    return [...this.#accounts.keys()].reduce((sum, { held }) => sum + held, 0);
  }

  open(end: () => void): OctetAccount {
    const account = {
      held: 0,
      set: (held: number): void => void (account.held = held),
      release: (): void => void this.#accounts.delete(account),
    };
    this.#accounts.set(account, end);
    return account;
  }

  endLargest(): void {
    const [largest] = [...this.#accounts].sort(([one], [other]) => other.held - one.held);
    largest?.[0].release();
    largest?.[1]();
  }
}

export interface FrameServerOptions {
  readonly limits?: Partial<Http2Limits>;
  readonly onStream?: (stream: ServedStream, headers: RequestHeaders) => void;
  readonly hasOneRequest?: (path: string) => boolean;
}

export class FrameServer implements AsyncDisposable {
  readonly inbound = new CountingPool();
  readonly outbound = new CountingPool();
  readonly connections: Http2Connection[] = [];
  readonly streams: ServedStream[] = [];
  readonly requests: RequestHeaders[] = [];
  readonly reasons: string[] = [];
  readonly failures: unknown[] = [];
  /** Number of open sockets. */
  slots = 0;
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
    listener.on('connection', (socket) => {
      this.slots += 1;
      socket.once('close', () => {
        this.slots -= 1;
        this.#tell();
      });
      const onStream = options.onStream ?? echo;
      const connection = serveHttp2Connection(socket, {
        inbound: this.inbound,
        outbound: this.outbound,
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
