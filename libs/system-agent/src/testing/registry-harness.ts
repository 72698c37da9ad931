import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KeyPair } from '@wins/base/testing';
import { digestOf, type ociImage } from './image-harness.js';

const TLS = join(__dirname, 'fixtures/registry-tls');
export const CA_FILE = join(TLS, 'cert.pem');

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export class RegistryDouble {
  /** By path below `/v2/`. */
  readonly content = new Map<string, Buffer>([['', Buffer.from('{}')]]);
  /** By request path, without the query. */
  readonly answers = new Map<string, Answer>();
  /** Called first for each request; returns true if it has answered. */
  gate: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[] = [];
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start({ tls = false }: { tls?: boolean | KeyPair } = {}): Promise<RegistryDouble> {
    const own = { cert: readFileSync(CA_FILE), key: readFileSync(join(TLS, 'key.pem')) };
    const server = tls === false ? createServer() : createTlsServer(tls === true ? own : tls);
    const double = new RegistryDouble(server, tls ? 'https' : 'http');
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      double.#answer(request, response),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return double;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.#scheme}://${this.host}`;
  }

  serve(name: string, tag: string, image: ReturnType<typeof ociImage>, text = image.text): void {
    this.content.set(`${name}/manifests/${tag}`, text);
    this.content.set(`${name}/manifests/${digestOf(image.text)}`, image.text);
    for (const [digest, bytes] of image.blobs) this.content.set(`${name}/blobs/${digest}`, bytes);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '', this.url);
    this.requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    if (this.gate(request, response)) return;
    const answer = this.answers.get(pathname);
    if (answer !== undefined) {
      answer(request, response);
      return;
    }
    const bytes = this.content.get(pathname.replace(/^\/v2\//, ''));
    if (bytes === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  }
}

/** Debian's docker-registry. */
export class RealRegistry {
  readonly host: string;
  readonly #child: ChildProcess;

  private constructor(host: string, child: ChildProcess) {
    this.host = host;
    this.#child = child;
  }

  /** @param htpasswd - Lines with bcrypt hashes. Default: everyone has full access. */
  static async start(program: string, folder: string, htpasswd?: string): Promise<RealRegistry> {
    const passwords = join(folder, 'htpasswd');
    if (htpasswd !== undefined) writeFileSync(passwords, htpasswd);
    const auth = { htpasswd: { realm: 'test', path: passwords } };
    const config = {
      version: 0.1,
      storage: { filesystem: { rootdirectory: join(folder, 'registry') } },
      http: { addr: '127.0.0.1:0' },
      ...(htpasswd === undefined ? {} : { auth }),
    };
    writeFileSync(join(folder, 'registry.json'), JSON.stringify(config));
    const child = spawn(program, ['serve', join(folder, 'registry.json')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for await (const line of createInterface({ input: child.stderr })) {
      const [, host] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? [];
      if (host === undefined) continue;
      child.stderr.resume();
      return new RealRegistry(host, child);
    }
    throw new Error(`${program} ended with ${child.exitCode}`);
  }

  async push(
    name: string,
    tag: string,
    image: ReturnType<typeof ociImage>,
    authorization?: string,
  ): Promise<void> {
    const base = `http://${this.host}/v2/${name}`;
    const headers = authorization === undefined ? {} : { authorization };
    const send = async (
      method: string,
      url: string,
      body?: Buffer,
      type = 'application/octet-stream',
    ) => {
      const answer = await fetch(url, {
        method,
        headers: { ...headers, 'content-type': type },
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
      return answer;
    };
    for (const [digest, bytes] of image.blobs) {
      if (digest === digestOf(image.text)) continue;
      const location = new URL(
        (await send('POST', `${base}/blobs/uploads/`)).headers.get('location') ?? '',
      );
      location.searchParams.set('digest', digest);
      await send('PUT', location.href, bytes);
    }
    await send('PUT', `${base}/manifests/${tag}`, image.text, image.manifest.mediaType);
  }

  async close(): Promise<void> {
    this.#child.kill();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
