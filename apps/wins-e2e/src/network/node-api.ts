import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Imitates the nodes of an API server. It answers from a JSON file, checks the token of the file, and appends each accepted
 * list to a second file. It ends when the JSON file is gone.
 */
const SERVER = `
const { createServer } = require('node:http');
const { appendFileSync, readFileSync } = require('node:fs');
const [, file, asked] = process.argv;
const known = () => JSON.parse(readFileSync(file, 'utf8'));
setInterval(known, 500);
const states = new Map();
const named = (nodes) => new Map(nodes.map((node) => [node.metadata.name, node]));
createServer(({ url, headers }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://cluster');
  const { version, nodes, token, watches } = known();
  if (headers.authorization !== 'Bearer ' + token || pathname !== '/api/v1/nodes')
    return response.writeHead(pathname === '/api/v1/nodes' ? 401 : 404).end('{}');
  if (searchParams.get('watch') !== 'true') {
    states.set(version, nodes);
    appendFileSync(asked, token + '\\n');
    const metadata = { resourceVersion: version };
    return response.end(JSON.stringify({ kind: 'NodeList', metadata, items: nodes }));
  }
  if (watches !== 'answered')
    return response.writeHead(watches === 'refused' ? 403 : 200).end(watches === 'refused' ? '{}' : '');
  let before = named(states.get(searchParams.get('resourceVersion')) ?? []);
  response.writeHead(200).flushHeaders();
  const look = setInterval(() => {
    const now = named(known().nodes);
    const resourceVersion = known().version;
    const tell = (type, node) => {
      const object = { ...node, metadata: { ...node.metadata, resourceVersion } };
      response.write(JSON.stringify({ type, object }) + '\\n');
    };
    for (const [name, node] of now)
      if (!before.has(name)) tell('ADDED', node);
      else if (JSON.stringify(before.get(name)) !== JSON.stringify(node)) tell('MODIFIED', node);
    for (const [name, node] of before) if (!now.has(name)) tell('DELETED', node);
    before = now;
  }, 20);
  response.on('close', () => clearInterval(look));
}).listen(6443, '127.0.0.1');
`;

/** A double of an API server that has nodes only. It listens on 127.0.0.1:6443 in the network where its command runs. */
export class NodeApi implements Disposable {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'wins-nodes-'));
  readonly #file = path.join(this.#folder, 'known.json');
  readonly #asked = path.join(this.#folder, 'asked');
  #version = 0;
  #nodes: readonly object[] = [];
  #token = 'token-1';
  #watches: 'answered' | 'refused' | 'ended' = 'answered';

  know(...nodes: readonly object[]): void {
    this.#nodes = nodes;
    this.#write();
  }

  /** Makes the server refuse later watches, or end them at once. */
  treatWatches(watches: 'answered' | 'refused' | 'ended'): void {
    this.#watches = watches;
    this.#write();
  }

  /** Makes the server refuse every other token. Watches that are already open continue, as on a real server. */
  rotate(token: string): void {
    this.#token = token;
    this.#write();
  }

  /** Tokens of the accepted lists, oldest first. */
  get listedWith(): readonly string[] {
    return readFileSync(this.#asked, 'utf8').split('\n').filter(Boolean);
  }

  /** A kubeconfig for this server, as YAML. */
  kubeconfig(user = `token: ${this.#token}`): string {
    return `apiVersion: v1
kind: Config
current-context: nodes
contexts: [{ name: nodes, context: { cluster: here, user: wins } }]
clusters: [{ name: here, cluster: { server: "http://127.0.0.1:6443" } }]
users:
- name: wins
  user: { ${user} }
`;
  }

  /** Shell command that starts the server detached from the daemon's output. */
  get command(): string {
    const words = [process.execPath, '-e', SERVER, this.#file, this.#asked];
    return `${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')} >/dev/null 2>&1 &`;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write(): void {
    this.#version += 1;
    const known = {
      version: String(this.#version),
      nodes: this.#nodes,
      token: this.#token,
      watches: this.#watches,
    };
    writeFileSync(`${this.#file}.new`, JSON.stringify(known));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

/** A Node object. `day` is the day of its creation. */
export function node(
  name: string,
  podCIDR: string,
  address: string,
  { ready = 'True', day = 1 }: { readonly ready?: string; readonly day?: number } = {},
): object {
  const creationTimestamp = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  return {
    metadata: { name, creationTimestamp },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: ready }],
    },
  };
}
