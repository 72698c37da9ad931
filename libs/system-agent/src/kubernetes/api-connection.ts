/*
 * HTTP/1.1 is enough: there is one watch, and a write now and then. Each of the two has a connection of its own, so that nothing that
 * happens to one holds up the other, and Node's HTTP/2 session with its faults is not met.
 */
import { request as requestHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { ProxyAddressError, proxyOf, type Environment } from '@wins/net';
import { errnoOf, messageOf, VERSION } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';
import { apiRefusal, type ApiRefusal } from './api-refusal.js';
import type { ClusterAccess } from './kubeconfig.js';
import { readJson } from './response-body.js';

export interface ApiRequest {
  readonly method: 'GET' | 'PUT';
  /** Below the address of the server, with its query. */
  readonly path: string;
  readonly body?: string;
  /** What is done, as the end of "cannot": for errors. */
  readonly what: string;
}

export interface ApiConnectionOptions {
  readonly access: ClusterAccess;
  /** Trusts the authorities of the kubeconfig alone. */
  readonly strictTls: boolean;
  readonly systemRoots: () => readonly string[];
  readonly environment: Environment;
  readonly onWarning: (message: string, error?: Error) => void;
  /** Called whenever the server sends something. */
  readonly onContact: () => void;
  /** Within which an answer begins, and, unless it is a watch, ends. */
  readonly answerMs: number;
}

const [MAJOR = 0, MINOR = 0] = process.versions.node.split('.').map(Number);
/** Whether the agents of this Node know proxies. */
export const CAN_PROXY =
  (MAJOR === 22 && MINOR >= 21) || (MAJOR === 24 && MINOR >= 5) || MAJOR > 24;

/** What Node says of a certificate that no known authority signed; Go calls all of it "signed by unknown authority". */
const UNKNOWN_AUTHORITY = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Requests to one API server. Redirects are refused as any other answer that is not wanted: a token goes to one address alone. */
export class ApiConnection {
  readonly #options: ApiConnectionOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #proxy: string | undefined;
  #hasWarned = false;
  /** What is tried in turn until a certificate is good; then that alone. */
  #agents: readonly (() => HttpAgent)[];
  readonly #made: HttpAgent[] = [];

  /** @throws AgentError `invalidConnection`. */
  constructor(options: ApiConnectionOptions) {
    const { access, strictTls, systemRoots } = options;
    const { ca } = access;
    if (strictTls && ca === undefined) {
      throw new AgentError(
        'invalidConnection',
        'cannot use the kubeconfig: found no certificate-authority-data, without which agentStrictTLSMode trusts no server; install the node again, or turn agentStrictTLSMode off',
      );
    }
    this.#options = options;
    this.#proxy = proxyTo(access.server, options.environment);
    if (this.#proxy !== undefined && !CAN_PROXY) {
      const message = `HTTPS_PROXY is not used: found Node ${process.versions.node}; wanted 22.21, 24.5 or later`;
      options.onWarning(message);
    }
    this.#headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': userAgent(),
      ...(access.token !== undefined && { authorization: `Bearer ${access.token}` }),
    };
    const own = ca === undefined ? [] : [() => this.#newAgent([ca])];
    const system = strictTls ? [] : [() => this.#newAgent(systemRoots())];
    this.#agents = [...own, ...system].map(once);
  }

  /** Closes what is kept for a next request, which would make a new one. */
  closeIdle(): void {
    for (const { freeSockets } of this.#made) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    }
  }

  /**
   * Sends a request and resolves once the answer is known to be 200; whoever calls reads the body, or destroys it.
   *
   * @throws AgentError `unreachable`; `closed` when the signal aborts.
   */
  async open(
    request: ApiRequest,
    signal: AbortSignal,
  ): Promise<{ readonly response: IncomingMessage } | ApiRefusal> {
    const response = await this.#sendTrusted(request, signal);
    this.#options.onContact();
    const { statusCode = 0, headers } = response;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      response.destroy();
      const found = 'found an encoded answer; wanted one as it is';
      return { error: new AgentError('refused', `cannot ${request.what}: ${found}`) };
    }
    if (statusCode === 200) return { response };
    const body = await this.#readWithin(response, signal).catch(() => undefined);
    return this.refusal(request.what, statusCode, body, headers['retry-after']);
  }

  /** What a status with its body means; a server that repeats the token is not repeated. */
  refusal(what: string, status: number, body: unknown, retryAfter?: string): ApiRefusal {
    const { token } = this.#options.access;
    return apiRefusal(what, status, body, {
      ...(token !== undefined && { token }),
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }

  /**
   * Sends a request and resolves with the JSON of its answer.
   *
   * @throws AgentError `unreachable`, `refused`, `closed`.
   */
  async ask(request: ApiRequest, signal: AbortSignal): Promise<{ body: unknown } | ApiRefusal> {
    const answer = await this.open(request, signal);
    if ('error' in answer) return answer;
    try {
      return { body: await this.#readWithin(answer.response, signal) };
    } catch (error) {
      throw this.failure(error, request.what, signal);
    }
  }

  /** What an error of Node's means. */
  failure(error: unknown, what: string, signal: AbortSignal): AgentError {
    if (error instanceof AgentError) return error;
    if (signal.aborted) return new AgentError('closed', `cannot ${what}: it was aborted`);
    const { origin } = this.#options.access.server;
    const found = errnoOf(error) ?? messageOf(error);
    const message = `cannot ${what}: the API server at ${origin} cannot be reached: ${found}`;
    return new AgentError('unreachable', message, { cause: error });
  }

  async #sendTrusted(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    // As they are now: another request may find out meanwhile which is good.
    const agents = this.#agents;
    for (const [index, agent] of agents.entries()) {
      try {
        const response = await this.#send(request, agent(), signal);
        // The certificate was good: from now on nothing else will do.
        this.#agents = [agent];
        return response;
      } catch (error) {
        const isUnknown = UNKNOWN_AUTHORITY.has(errnoOf(error) ?? '');
        const failure = this.failure(error, request.what, signal);
        if (!isUnknown || index + 1 === agents.length) throw failure;
        // Nothing was sent yet: the handshake had failed.
        if (this.#hasWarned) continue;
        this.#hasWarned = true;
        const message =
          'the certificate of the API server is from no authority of the kubeconfig: those of the system are tried instead, for agentStrictTLSMode is off';
        this.#options.onWarning(message, failure);
      }
    }
    throw new Error('unreachable: the last agent returns or throws');
  }

  async #send(
    request: ApiRequest,
    agent: HttpAgent,
    signal: AbortSignal,
    isRetry = false,
  ): Promise<IncomingMessage> {
    const { server } = this.#options.access;
    const send = server.protocol === 'https:' ? requestHttps : requestHttp;
    const { method, path, body } = request;
    const outgoing = send(server, {
      agent,
      method,
      path: server.pathname.replace(/\/+$/, '') + path,
      headers: {
        ...this.#headers,
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
      signal,
    });
    const { answerMs } = this.#options;
    const timer = setTimeout(() => outgoing.destroy(noAnswer(answerMs)), answerMs);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        // A server that changes the protocol makes Node close the connection without an error.
        const onClose = (): void => reject(new Error('it sent no answer'));
        outgoing.on('response', resolve).on('error', reject).on('close', onClose).end(body);
      });
    } catch (error) {
      // The server had closed a connection that we kept. A write that it took none the less is found by its version.
      const isStale = outgoing.reusedSocket && !isRetry && !signal.aborted;
      if (isStale && ['ECONNRESET', 'EPIPE'].includes(errnoOf(error) ?? '')) {
        return await this.#send(request, agent, signal, true);
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #readWithin(response: IncomingMessage, signal: AbortSignal): Promise<unknown> {
    const { answerMs } = this.#options;
    const timer = setTimeout(() => response.destroy(noAnswer(answerMs)), answerMs);
    try {
      signal.throwIfAborted();
      return await readJson(response);
    } finally {
      clearTimeout(timer);
      response.destroy();
    }
  }

  #newAgent(roots: readonly string[]): HttpAgent {
    const { server, tlsServerName, clientCertificate } = this.#options.access;
    // One connection is kept: after one that turned out to be closed the next is a new one.
    const common = { keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 1 };
    if (server.protocol === 'http:') return this.#keep(new HttpAgent(common));
    const agent = new HttpsAgent({
      ...common,
      ca: [...roots],
      // As Go: an authority in the list is trusted, also when another one has signed it.
      allowPartialTrustChain: true,
      minVersion: 'TLSv1.2',
      ...(tlsServerName !== undefined && { servername: tlsServerName }),
      ...clientCertificate,
      // Not in the types of Node 20.
      ...(this.#proxy !== undefined && { proxyEnv: { HTTPS_PROXY: this.#proxy } }),
    });
    return this.#keep(agent);
  }

  #keep(agent: HttpAgent): HttpAgent {
    this.#made.push(agent);
    return agent;
  }
}

/** @throws AgentError `invalidConnection`. */
function proxyTo(server: URL, environment: Environment): string | undefined {
  try {
    return proxyOf(server, environment);
  } catch (error) {
    if (!(error instanceof ProxyAddressError)) throw error;
    throw new AgentError('invalidConnection', error.message);
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function noAnswer(ms: number): Error {
  return new Error(`it did not answer within ${ms} ms`);
}

function userAgent(): string {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return `wins/${VERSION} (${os}/${arch})`;
}
