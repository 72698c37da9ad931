import type { FileTrust } from '@wins/trusted-files';
import { ProxyAddressError, proxyOf } from '@wins/net';
import { messageOf, quoteText } from '@wins/wins-program';
import type { Agent, Dispatcher, ProxyAgent } from 'undici';
import { AgentError } from '../../agent-error.js';
import { imageFailed } from '../image-failure.js';
import type { ImageLimits } from '../image-limits.js';
import { parseUrl } from './parse-url.js';
import { readTrusted, type Registries } from './registries-file.js';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Proxies, as the variables of these names have them. */
export interface Proxies {
  /** An address such as `http://proxy.example:3128`; absent or empty for none. */
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Hosts, domains, addresses and networks that are asked without a proxy, with commas between them; `*` for all. */
  readonly noProxy?: string;
}

/** What is asked of a server. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly form?: URLSearchParams;
}

export interface HostConnectionsOptions {
  readonly proxies?: Proxies | undefined;
  readonly registries: Registries;
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}

/** HTTP with the TLS settings that each host has in `registries.yaml`. Whoever makes it closes it. */
export class HostConnections {
  readonly #options: HostConnectionsOptions;
  readonly #agents = new Map<string, Promise<Agent | ProxyAgent>>();

  constructor(options: HostConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Asks, and follows redirects. Headers and certificates are for the host that was asked first: another one gets what is configured for
   * itself, and never `Authorization`.
   *
   * @returns Whatever the answer is; its body has to be read or destroyed.
   * @throws AgentError `unreachable`; `imageFailed` for redirects that are not followed.
   */
  async ask(url: URL, { headers = {}, form }: Question): Promise<Dispatcher.ResponseData> {
    let current = url;
    for (let redirects = 0; ; redirects += 1) {
      const { authorization, ...others } = headers;
      const own = current.origin === url.origin && authorization !== undefined;
      const answer = await this.#send(current, own ? { ...others, authorization } : others, form);
      const location = answer.headers.location;
      if (!REDIRECTS.has(answer.statusCode) || typeof location !== 'string') return answer;
      answer.body.on('error', () => undefined).destroy();
      current = this.#redirected(current, location, redirects, form !== undefined);
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values())
      await (await agent.catch(() => undefined))?.destroy();
  }

  #redirected(from: URL, location: string, redirects: number, isForm: boolean): URL {
    const what = `follow a redirect of ${from.origin}`;
    const url = parseUrl(location, from);
    if (isForm) throw imageFailed(what, 'one for a request with credentials', 'an answer');
    if (redirects >= MAX_REDIRECTS)
      throw imageFailed(what, 'another one', `at most ${MAX_REDIRECTS}`);
    if (url === undefined || (url.protocol !== 'https:' && url.protocol !== from.protocol))
      throw imageFailed(what, quoteText(url?.origin ?? location), 'an address by HTTPS');
    return url;
  }

  async #send(url: URL, headers: Record<string, string>, form: URLSearchParams | undefined) {
    const { request } = await import('undici');
    const { signal, limits } = this.#options;
    const dispatcher = await this.#agent(url);
    try {
      return await request(url, {
        dispatcher,
        signal,
        headers: {
          ...headers,
          ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(form ? { method: 'POST', body: form.toString() } : { method: 'GET' }),
        headersTimeout: limits.idleMs,
        bodyTimeout: limits.idleMs,
      });
    } catch (error) {
      throw unreachable(url, error, signal);
    }
  }

  #agent(url: URL): Promise<Agent | ProxyAgent> {
    const known = this.#agents.get(url.origin);
    if (known !== undefined) return known;
    const agent = this.#createAgent(url);
    this.#agents.set(url.origin, agent);
    return agent;
  }

  async #createAgent(url: URL): Promise<Agent | ProxyAgent> {
    const { Agent, ProxyAgent } = await import('undici');
    const tls = this.#options.registries.configs?.[url.host]?.tls ?? {};
    const [ca, cert, key] = [
      await this.#readPem(tls.ca_file),
      await this.#readPem(tls.cert_file),
      await this.#readPem(tls.key_file),
    ];
    const { rootCertificates } = await import('node:tls');
    const settings = {
      timeout: this.#options.limits.idleMs,
      rejectUnauthorized: tls.insecure_skip_verify !== true,
      // Beside those that Node trusts, as the original has it.
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    const proxy = proxyTo(url, this.#options.proxies ?? {});
    if (proxy === undefined) return new Agent({ connect: settings });
    return new ProxyAgent({ uri: proxy, requestTls: settings });
  }

  async #readPem(path: string | null | undefined): Promise<string | undefined> {
    if (!path) return undefined;
    const text = await readTrusted(path, this.#options.trust);
    if (text !== undefined) return text;
    throw imageFailed(`read ${path}`, 'no file', 'what registries.yaml names');
  }
}

function proxyTo(url: URL, { httpProxy, httpsProxy, noProxy }: Proxies): string | undefined {
  const environment = { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy };
  try {
    return proxyOf(url, environment);
  } catch (error) {
    if (!(error instanceof ProxyAddressError)) throw error;
    throw imageFailed('use a proxy', 'another form', 'an address such as http://proxy:3128');
  }
}

/** An address may hold secrets behind its origin. */
export function unreachable(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AgentError) return error;
  return new AgentError('unreachable', `cannot ask ${url.origin}: ${quoteText(messageOf(error))}`, {
    cause: error,
  });
}
