/* HTTP/1.1 is enough: the watch and the writes have separate connections, so neither blocks the other. */
import {
  HttpClient,
  isNetError,
  NetError,
  proxyOf,
  systemRoots,
  type ClusterAccess,
  type Environment,
  type HttpAnswer,
  type TlsTrust,
  retryAfterMs,
} from '@wins/net';
import { messageOf, reporter, VERSION, escapeText } from '@wins/base';
import { abortedBy, AgentError, type AgentErrorCode } from '../agent-error.js';
import type { Clock, StartTimer } from '../ports.js';
import { readJson } from './response-body.js';

export interface ApiRequest {
  readonly method: 'GET' | 'PUT';
  /** Path below the server's address, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly what: string;
}

/** Trust, proxy and time-outs of a connection to the API server. Times are in milliseconds. */
export interface SecretStoreOptions {
  /** Clock for the waits between connections. `startTimer` measures silence. */
  readonly clock: Clock;
  /**
   * `agentStrictTLSMode`. True: trusts only the authorities of the kubeconfig, which must contain some. False: first tries the
   * authorities of the kubeconfig, if it has any, and then those of the system. Once a certificate is verified, only the
   * authorities that verified it stay trusted.
   */
  readonly strictTls: boolean;
  /** PEM of the system's authorities. Default: {@link systemRoots}. */
  readonly systemRoots?: (() => readonly string[]) | undefined;
  /** Supplies `HTTPS_PROXY` and `NO_PROXY`, in Go's format. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly onWarning?: ((message: string, error?: Error) => unknown) | undefined;
  /** Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Time-out for an answer. Default: 30,000. */
  readonly answerMs?: number | undefined;
  /** Silence after which a watch counts as broken. Default: 90,000. */
  readonly quietMs?: number | undefined;
  /** Absent: `setTimeout`. */
  readonly startTimer?: StartTimer | undefined;
}

export type ApiConnectionOptions = Pick<
  SecretStoreOptions,
  'strictTls' | 'systemRoots' | 'environment' | 'onWarning' | 'answerMs'
> & {
  /** Called whenever the server sends something. */
  readonly onContact?: () => void;
};

/** Maximum time until an answer starts and, except for a watch, until it ends. */
export const ANSWER_MS = 30_000;
/** A server sends a bookmark about each minute. */
export const QUIET_MS = 90_000;

/** Sends requests to one API server. Refuses redirects, so that the token goes to one address only. */
export class ApiConnection {
  readonly #access: ClusterAccess;
  readonly #options: ApiConnectionOptions;
  readonly #client: HttpClient;
  #hasWarned = false;
  /** Tried in order. The first that verifies the server replaces the list. */
  #trusts: readonly (() => TlsTrust)[];

  /** @throws AgentError `invalidConnection`. */
  constructor(access: ClusterAccess, options: ApiConnectionOptions) {
    const { strictTls, environment = process.env, answerMs = ANSWER_MS } = options;
    const roots = options.systemRoots ?? systemRoots;
    const { ca, tlsServerName, clientCertificate } = access;
    if (strictTls && ca === undefined)
      throw new AgentError(
        'invalidConnection',
        'cannot use the kubeconfig: agentStrictTLSMode needs its certificate-authority-data, which is missing. Reinstall the node, or turn agentStrictTLSMode off',
      );
    checkProxy(access.server, environment);
    this.#access = access;
    this.#options = { ...options, onWarning: reporter(options.onWarning) };
    this.#client = new HttpClient({
      // The watch and the writer decide when to retry. If the kept connection is closed, the next request opens a new one.
      environment,
      systemRoots: roots,
      tries: 1,
      keptConnections: 1,
      userAgent: userAgent(),
      limits: { connectMs: answerMs, answerMs, idleMs: Infinity, totalMs: Infinity },
    });
    const trustOf = (trusted: readonly string[]): TlsTrust => ({
      roots: trusted,
      ...(tlsServerName !== undefined && { serverName: tlsServerName }),
      ...(clientCertificate && { clientCertificate }),
    });
    const own = ca === undefined ? [] : [() => trustOf([ca])];
    const system = strictTls ? [] : [() => trustOf(roots())];
    this.#trusts = [...own, ...system].map(once);
  }

  closeIdle(): void {
    this.#client.endKept();
  }

  /**
   * Requires status 200 and no compression. The caller closes the answer.
   * @throws AgentError. For any other answer, the error has its `status`. The code is `closed` if the signal
   * aborts, and `unreachable` if no answer comes for another reason.
   */
  async open(request: ApiRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.#sendTrusted(request, signal);
    this.#options.onContact?.();
    const { status, headers } = answer;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      answer.close();
      const found = 'found a compressed answer; wanted an uncompressed one';
      throw new AgentError('refused', `cannot ${request.what}: ${found}`, { status });
    }
    if (status === 200) return answer;
    const body = await this.#readWithin(answer, request.what).catch(() => undefined);
    throw this.refusal(request.what, status, body, headers['retry-after']);
  }

  /** Masks the token. A 422 is `tooLarge` when a field of the object is too long, else `refused`. */
  refusal(what: string, status: number, body: unknown, retryAfter?: string): AgentError {
    const { token } = this.#access;
    const { message, causes } = readStatus(body);
    const isLong = status === 422 && isTooLong(causes);
    const shown = token === undefined ? message : message?.replaceAll(token, '[token]');
    const said = shown === undefined ? '' : `: ${escapeText(shown, { maxLength: 512 })}`;
    const text = `cannot ${what}: the API server answered ${status}${said}`;
    const answer = { status, retryAfterMs: retryAfterMs(retryAfter, Date.now()) };
    return new AgentError(isLong ? 'tooLarge' : (CODES[status] ?? 'refused'), text, answer);
  }

  /** @throws as {@link open}; AgentError `refused` for invalid JSON. */
  async ask(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const answer = await this.open(request, signal);
    try {
      return await this.#readWithin(answer, request.what);
    } catch (error) {
      throw this.failure(error, request.what, signal);
    }
  }

  failure(error: unknown, what: string, signal: AbortSignal): AgentError {
    if (error instanceof AgentError) return error;
    if (signal.aborted) return abortedBy(signal, what);
    const message = isNetError(error) ? error.message : `cannot ${what}: ${messageOf(error)}`;
    return new AgentError('unreachable', message, { cause: error });
  }

  async #sendTrusted(request: ApiRequest, signal: AbortSignal): Promise<HttpAnswer> {
    // Read the list once: another request may replace it.
    const trusts = this.#trusts;
    for (const [index, trust] of trusts.entries()) {
      try {
        const answer = await this.#send(request, trust(), signal);
        this.#trusts = [trust];
        return answer;
      } catch (error) {
        const isUnknown = isNetError(error) && error.code === 'unknownAuthority';
        const failure = this.failure(error, request.what, signal);
        if (!isUnknown || index + 1 === trusts.length) throw failure;
        if (this.#hasWarned) continue;
        this.#hasWarned = true;
        const message =
          'the certificate of the API server is not from an authority of the kubeconfig: trying those of the system because agentStrictTLSMode is off';
        this.#options.onWarning?.(message, failure);
      }
    }
    throw new Error('unreachable: the last trust returns or throws');
  }

  async #send(
    { method, path, body, what }: ApiRequest,
    trust: TlsTrust,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { server, token } = this.#access;
    const request = {
      url: new URL(server.pathname.replace(/\/+$/, '') + path, server),
      method,
      trust,
      redirects: 'none' as const,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      // Repeating a write is safe, because its old resourceVersion causes a conflict.
      ...(body !== undefined && { body }),
    };
    return await this.#client.open(request, what, { signal });
  }

  async #readWithin(answer: HttpAnswer, what: string): Promise<unknown> {
    const { answerMs = ANSWER_MS } = this.#options;
    const late = new NetError('timedOut', `cannot ${what}: no whole answer within ${answerMs} ms`);
    const timer = setTimeout(() => answer.end(late), answerMs);
    try {
      return await readJson(answer.body({ maxBytes: Infinity }));
    } finally {
      clearTimeout(timer);
      answer.close();
    }
  }
}

function checkProxy(server: URL, environment: Environment): void {
  try {
    proxyOf(server, environment);
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    throw new AgentError('invalidConnection', error.message);
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function userAgent(): string {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return `wins/${VERSION} (${os}/${arch})`;
}

const CODES: Readonly<Record<number, AgentErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  410: 'expired',
  413: 'tooLarge',
};

function readStatus(body: unknown): { message?: string; causes: unknown } {
  type Status = { readonly message?: unknown; readonly details?: { readonly causes?: unknown } };
  const { message, details } = (body ?? {}) as Status;
  return { ...(typeof message === 'string' && { message }), causes: details?.causes };
}

const isTooLong = (causes: unknown): boolean =>
  Array.isArray(causes) &&
  causes.some((cause: { reason?: unknown } | null) => cause?.reason === 'FieldValueTooLong');
