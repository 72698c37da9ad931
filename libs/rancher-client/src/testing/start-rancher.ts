import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createCertificateAuthority, type CertificateAuthority } from '@wins/base/testing';
import type { RancherFault, RancherRequest } from './fault.js';
import { issueCertificate, type CertificateKind } from './rancher-certificates.js';
import { route } from './rancher-routes.js';

export interface RancherOptions {
  /** Default: a new one. */
  readonly authority?: CertificateAuthority;
  /** Default: `valid`. */
  readonly certificate?: CertificateKind;
  /** Names in the certificate besides `localhost`, `127.0.0.1` and `::1`. */
  readonly names?: readonly string[];
  /** Body of `/cacerts`. Default: the authority's certificate. */
  readonly caCerts?: string;
  /** Registration token. Default: random. */
  readonly token?: string;
  /** Bootstrap tokens, which get no `x-cattle-hash` proof from `/cacerts`. Default: none. */
  readonly machineTokens?: readonly string[];
  /** Files below `/assets`, by name. */
  readonly assets?: Readonly<Record<string, Buffer>>;
  /** Serves without TLS. Default: false. */
  readonly plain?: boolean;
}

/** The caller closes the server. */
export interface RancherDouble {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** PEM of the authority. */
  readonly ca: string;
  /** SHA-256 of the body of `/cacerts`. */
  readonly checksum: string;
  readonly requests: readonly RancherRequest[];
  caCerts: string;
  connectionInfo: unknown;
  readonly assets: Map<string, Buffer>;
  /** Answers the next requests for `path` with `faults`, one each, in order. With `forEver`, the last fault repeats. */
  script(
    path: string,
    faults: readonly RancherFault[],
    options?: { readonly forEver: boolean },
  ): void;
  /** Resolves with the next request. */
  received(path: string): Promise<RancherRequest>;
  /** Replaces authority, certificate and `/cacerts`. */
  rotate(kind?: CertificateKind): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRancher(options: RancherOptions = {}): Promise<RancherDouble> {
  const { certificate = 'valid', names = [], plain = false, machineTokens = [] } = options;
  const token =
    options.token ?? `token-${createHash('sha256').update(String(Math.random())).digest('hex')}`;
  const hosts = ['localhost', '127.0.0.1', '::1', ...names];
  const requests: RancherRequest[] = [];
  const scripts = new Map<string, { faults: RancherFault[]; forEver: boolean }>();
  const waiting = new Set<(request: RancherRequest) => void>();
  let authority = options.authority ?? createCertificateAuthority('rancher-double');

  const listener: RequestListener = (incoming, response) => {
    incoming.resume();
    const { method = '', url: path = '/', headers, socket } = incoming;
    const serverName = (socket instanceof TLSSocket && socket.servername) || undefined;
    const request = { method, path, headers, serverName };
    requests.push(request);
    for (const report of [...waiting]) report(request);
    const proceed = (): void =>
      route(request, response, { ...double, tokens: [token], machineTokens });
    const script = scripts.get(path.replace(/\?.*$/, ''));
    const isLast = script?.forEver === true && script.faults.length === 1;
    const fault = isLast ? script.faults[0] : script?.faults.shift();
    if (fault === undefined) proceed();
    else fault(request, response, proceed);
  };
  const server: Server | TlsServer = plain
    ? createServer(listener)
    : createTlsServer(issueCertificate(authority, certificate, hosts), listener);
  // A client that refuses the certificate closes the connection.
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `${plain ? 'http' : 'https'}://127.0.0.1:${port}`;

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const double = {
    url,
    port,
    token,
    requests,
    close,
    caCerts: options.caCerts ?? authority.cert,
    assets: new Map(Object.entries(options.assets ?? {})),
    connectionInfo: connectionInfo({
      server: url,
      ca: plain ? undefined : authority.cert,
    }) as unknown,
    get ca() {
      return authority.cert;
    },
    get checksum(): string {
      return createHash('sha256').update(this.caCerts).digest('hex');
    },
    script: (
      path: string,
      faults: readonly RancherFault[],
      { forEver }: { readonly forEver: boolean } = { forEver: false },
    ) => void scripts.set(path, { faults: [...faults], forEver }),
    received: (path: string) =>
      new Promise<RancherRequest>((resolve) => {
        const report = (request: RancherRequest): void => {
          if (request.path !== path) return;
          waiting.delete(report);
          resolve(request);
        };
        waiting.add(report);
      }),
    rotate(kind: CertificateKind = 'valid') {
      authority = createCertificateAuthority('rancher-double');
      this.caCerts = authority.cert;
      if ('setSecureContext' in server)
        server.setSecureContext(issueCertificate(authority, kind, hosts));
    },
    [Symbol.asyncDispose]: close,
  };
  return double;
}

/** The kubeconfig is as Rancher writes it. */
export function connectionInfo({
  server,
  ca,
  token = 'agent-token',
}: {
  readonly server: string;
  /** PEM; undefined for a certificate of a public authority. */
  readonly ca: string | undefined;
  readonly token?: string;
}): { readonly kubeConfig: string; readonly namespace: string; readonly secretName: string } {
  const data = ca && `    certificate-authority-data: ${Buffer.from(ca).toString('base64')}\n`;
  const kubeConfig = `apiVersion: v1
clusters:
- cluster:
${data ?? ''}    server: ${server}
  name: agent
contexts:
- context:
    cluster: agent
    user: agent
  name: agent
current-context: agent
kind: Config
users:
- name: agent
  user:
    token: ${token}
`;
  return {
    kubeConfig,
    namespace: 'fleet-default',
    secretName: 'custom-0123456789ab-machine-plan',
  };
}
