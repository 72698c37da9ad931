import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const BASE = '/2016-07-29';

/** Rancher's metadata service, for tests. A test can replace its answers with faults. */
export class MetadataServer implements AsyncDisposable {
  readonly asked: string[] = [];
  hosts: unknown;
  containers: unknown = null;
  /** UUID of the host that asks. */
  self = 'h-a';
  /** Answers a request in place of the server, unless it returns false. */
  fault: ((...parts: Parameters<RequestListener>) => unknown) | undefined;
  readonly #server: Server;
  #version = 1;
  #waiting: ServerResponse[] = [];

  private constructor(hosts: unknown) {
    this.hosts = hosts;
    this.#server = createServer((request, response) => {
      const { url = '' } = request;
      this.asked.push(url);
      if (this.fault === undefined || this.fault(request, response) === false)
        this.#answer(url, response);
    });
  }

  static async start(hosts: unknown): Promise<MetadataServer> {
    const server = new MetadataServer(hosts);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get version(): string {
    return `v${this.#version}`;
  }

  /** Also answers waiting long polls. */
  publish(hosts: unknown = this.hosts): void {
    this.hosts = hosts;
    this.#version += 1;
    for (const response of this.#waiting.splice(0)) response.end(JSON.stringify(this.version));
  }

  /** Also closes waiting requests. The version changes, so that a long poll that arrives later does not wait either. */
  break(fault: MetadataServer['fault']): void {
    this.fault = fault;
    this.#version += 1;
    this.#waiting = [];
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #answer(url: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://metadata');
    if (pathname === `${BASE}/version` && searchParams.get('value') === this.version)
      this.#waiting.push(response);
    else if (pathname === `${BASE}/version`) response.end(JSON.stringify(this.version));
    else if (pathname === `${BASE}/self/host/uuid`) response.end(JSON.stringify(this.self));
    else if (pathname === `${BASE}/hosts`) response.end(JSON.stringify(this.hosts));
    else if (pathname === `${BASE}/containers`) response.end(JSON.stringify(this.containers));
    else response.writeHead(404).end('{"message":"Not found","type":"error","code":404}');
  }
}
