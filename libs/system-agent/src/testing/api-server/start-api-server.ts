// This file is longer than most, because faults may cut in at any step of an answer, and each step is a few lines.
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  createCertificateAuthority,
  type CertificateAuthority,
  type KeyPair,
} from '@wins/base/testing';
import type { ApiFault, ApiRequest } from './api-fault.js';
import { route, type ApiUser } from './api-routes.js';
import { NodeTable } from './node-table.js';
import { SecretTable, type SecretEvent, type SecretObject } from './secret-table.js';
import type { OpenWatch } from './serve-watch.js';

export interface ApiServerOptions {
  readonly namespace?: string;
  readonly secretName?: string;
  readonly watchList?: boolean | 'failing';
  readonly expiredAs?: 'event' | 'status';
  /** Plain HTTP, without certificates. */
  readonly plain?: boolean;
  /** Default: a free port. */
  readonly port?: number;
  /** Default: a new authority. */
  readonly authority?: CertificateAuthority;
  /** Verbs of the agent for nodes. Default: `list` and `watch`. */
  readonly nodeVerbs?: readonly string[];
}

export interface FaultOptions {
  readonly when?: (request: ApiRequest) => boolean;
  /** Default: until `fault` is called again. */
  readonly times?: number;
}

export interface KubeconfigOptions {
  readonly token?: string;
  /** Null: no authority. */
  readonly ca?: string | null;
  readonly server?: string;
  /** Used instead of the token. */
  readonly client?: KeyPair;
}

/** A double of the API server, for Secrets only. The caller closes it. */
export interface ApiServer {
  readonly url: string;
  readonly namespace: string;
  readonly secretName: string;
  /** PEM of the server's authority. */
  readonly ca: string;
  /** The agent's token, until `rotateToken`. */
  readonly token: string;
  /** May read, but not write, the agent's Secret. */
  readonly readerToken: string;
  readonly adminToken: string;
  /** The agent's certificate. */
  readonly clientCertificate: KeyPair;
  readonly requests: readonly ApiRequest[];
  readonly events: readonly SecretEvent[];
  /** Content of a `connectionInfoFile`. */
  connectionInfo(options?: KubeconfigOptions): string;
  create(data: Readonly<Record<string, string | Buffer>>): SecretObject;
  /** Writes the Secret, as Rancher would. An undefined value removes its key. Without `changes`, only a label changes. */
  update(changes?: Readonly<Record<string, string | Buffer | undefined>>): SecretObject;
  remove(): void;
  read(): SecretObject | undefined;
  /** Current decoded values of the Secret. */
  data(): Readonly<Record<string, Buffer>>;
  readonly nodes: NodeTable;
  /** Returns a function that restores the Secrets of this moment: their versions go back, and they keep their uids. */
  backup(): () => void;
  /** Forgets the history, so that watches from earlier versions are refused. */
  compact(): void;
  bookmark(): void;
  /** Replaces the agent's token. Watches that are already open continue, as on a real server. */
  rotateToken(): void;
  /** Ends watches as a server does after `timeoutSeconds`. */
  endWatches(): void;
  resetConnections(): void;
  /** Undefined ends the fault. */
  fault(fault: ApiFault | undefined, options?: FaultOptions): void;
  nextRequest(isWanted?: (request: ApiRequest) => boolean): Promise<ApiRequest>;
  /** Stops listening, and cuts all connections. */
  down(): Promise<void>;
  /** Listens again on the same port. */
  up(): Promise<void>;
  close(): Promise<void>;
}

/** Answers like Kubernetes 1.35. */
export async function startApiServer({
  namespace = 'fleet-default',
  secretName = 'demo-machine-plan',
  watchList = true,
  expiredAs = 'event',
  plain = false,
  port: wantedPort = 0,
  authority = createCertificateAuthority('api-server-double'),
  nodeVerbs = ['list', 'watch'],
}: ApiServerOptions = {}): Promise<ApiServer> {
  const table = new SecretTable();
  const nodes = new NodeTable();
  const watches = new Set<OpenWatch>();
  const requests: ApiRequest[] = [];
  const waiting = new Set<(request: ApiRequest) => void>();
  const newToken = (): string => `agent-token-${Math.random().toString(36).slice(2)}`;
  let token = newToken();
  const readerToken = `reader-token-${Math.random().toString(36).slice(2)}`;
  const adminToken = `admin-token-${Math.random().toString(36).slice(2)}`;
  const agent: ApiUser = {
    name: `system:serviceaccount:${namespace}:agent`,
    secrets: [secretName],
    nodeVerbs,
  };
  let fault: ApiFault | undefined;
  let faultOptions: FaultOptions = {};
  let faultsLeft = 0;
  // Few callers use it, and a key takes longer than most requests.
  let clientCertificate: KeyPair | undefined;

  const userOf = ({ headers }: ApiRequest, socket: Socket): ApiUser | undefined | false => {
    const shown = headers.authorization;
    if (shown === undefined)
      return socket instanceof TLSSocket && socket.authorized ? agent : undefined;
    if (shown === `Bearer ${token}`) return agent;
    if (shown === `Bearer ${readerToken}`) return { ...agent, isReader: true };
    return shown === `Bearer ${adminToken}` && { name: 'admin' };
  };

  const listener: RequestListener = (incoming, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const { pathname, searchParams } = new URL(incoming.url ?? '/', 'https://localhost');
      const request: ApiRequest = {
        method: incoming.method ?? '',
        path: pathname,
        query: searchParams,
        headers: incoming.headers,
        body: Buffer.concat(parts),
      };
      const user = userOf(request, incoming.socket);
      const proceed = (): void =>
        route(request, response, {
          table,
          nodes,
          watches,
          watchList,
          expiredAs,
          userOf: () => user,
        });
      const isFaulty = faultsLeft > 0 && (faultOptions.when?.(request) ?? true);
      if (isFaulty) faultsLeft -= 1;
      requests.push(request);
      for (const report of [...waiting]) report(request);
      if (isFaulty && fault !== undefined) fault(request, response, proceed);
      else proceed();
    })().catch(() => response.destroy());
  };
  const server = plain
    ? createHttpServer(listener)
    : createHttpsServer(
        {
          ...authority.issue('api-server', ['127.0.0.1', 'localhost']),
          ca: authority.cert,
          requestCert: true,
          rejectUnauthorized: false,
        },
        listener,
      );
  // Includes sockets without a finished TLS handshake, which the server does not track.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  let port = wantedPort;
  const up = async (): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  };
  const down = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await up();

  const url = `${plain ? 'http' : 'https'}://127.0.0.1:${port}`;
  const kubeconfig = ({
    ca = plain ? null : authority.cert,
    server: address = url,
    client,
    token: shown = token,
  }: KubeconfigOptions = {}) => ({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'agent',
    clusters: [
      {
        name: 'agent',
        cluster: {
          server: address,
          ...(ca !== null && { 'certificate-authority-data': base64(ca) }),
        },
      },
    ],
    contexts: [{ name: 'agent', context: { cluster: 'agent', user: 'agent' } }],
    users: [
      {
        name: 'agent',
        user: client
          ? {
              'client-certificate-data': base64(client.cert),
              'client-key-data': base64(client.key),
            }
          : { token: shown },
      },
    ],
  });
  const metadata = { namespace, name: secretName };
  return {
    url,
    namespace,
    secretName,
    ca: authority.cert,
    get token() {
      return token;
    },
    readerToken,
    adminToken,
    get clientCertificate() {
      return (clientCertificate ??= authority.issue('agent'));
    },
    requests,
    events: table.events,
    connectionInfo: (options) =>
      JSON.stringify({ kubeConfig: JSON.stringify(kubeconfig(options)), namespace, secretName }),
    create: (data) => {
      const type = 'rke.cattle.io/machine-plan';
      return table.create({ metadata, type, data: encoded(data) }, 'rancher');
    },
    update: (changes) => {
      const old = table.get(namespace, secretName);
      const data = encoded({ ...decoded(old), ...changes });
      const labels = changes ? {} : { labels: { changed: String(table.version) } };
      return table.replace({ ...old, metadata: { ...old.metadata, ...labels }, data }, 'rancher');
    },
    remove: () => void table.remove(namespace, secretName, 'rancher'),
    read: () => table.find(namespace, secretName),
    data: () => decoded(table.get(namespace, secretName)),
    nodes,
    backup: () => {
      const backup = table.backup();
      return () => table.restore(backup);
    },
    compact: () => table.compact(),
    bookmark: () => {
      table.advance();
      for (const watch of watches) watch.bookmark();
    },
    rotateToken: () => {
      token = newToken();
    },
    endWatches: () => {
      for (const watch of watches) watch.end();
    },
    resetConnections: () => server.closeAllConnections(),
    fault: (next, options = {}) => {
      fault = next;
      faultOptions = options;
      faultsLeft = next === undefined ? 0 : (options.times ?? Infinity);
    },
    nextRequest: (isWanted = () => true) =>
      new Promise((resolve) => {
        const report = (request: ApiRequest): void => {
          if (!isWanted(request)) return;
          waiting.delete(report);
          resolve(request);
        };
        waiting.add(report);
      }),
    down,
    up,
    close: down,
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function encoded(
  data: Readonly<Record<string, string | Buffer | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Buffer.from(value as string).toString('base64')]],
    ),
  );
}

function decoded({ data = {} }: SecretObject): Record<string, Buffer> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
  );
}
