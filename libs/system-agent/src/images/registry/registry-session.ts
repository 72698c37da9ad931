import { isNetError, type HttpAnswer } from '@wins/net';
import { AgentError } from '../../agent-error.js';
import type { ImageLimits } from '../image-limits.js';
import { parseChallenges, type Challenge } from './challenge.js';
import { basic, type Login } from './credentials.js';
import type { Endpoint } from './endpoints.js';
import { fetchToken } from './fetch-token.js';
import { asAgentError, type HostConnections } from './host-connections.js';

/** As often as a request is sent. */
const MAX_TRIES = 3;
/** The connection was there, and ended or went silent. */
const CUT = new Set(['interrupted', 'timedOut']);

export interface RegistrySessionOptions {
  readonly endpoint: Endpoint;
  readonly connections: HostConnections;
  /** Who the agent is to this registry; asked for once the registry wants to know. */
  readonly findLogin: () => Promise<Login | undefined>;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}

/**
 * One repository of one registry, asked without saying who we are until the registry wants to know: by 401, or by 403 or 404 for what it hides from
 * strangers, if it wants to know at `/v2/`.
 *
 * Docker's protocol lets the registry name the server that hands out tokens, and that one is shown the credentials of the registry,
 * though it may be another host: Docker Hub works so. They leave by HTTPS alone, but for a server of the same name as a registry that is
 * itself asked by plain HTTP.
 */
export class RegistrySession {
  readonly #options: RegistrySessionOptions;
  #authorization: string | undefined;
  #login: Promise<Login | undefined> | undefined;
  #shown: string | undefined;

  constructor(options: RegistrySessionOptions) {
    this.#options = options;
  }

  /** Where the credentials are from that the registry, or its server of tokens, was shown; undefined as long as it was shown none. */
  get shown(): string | undefined {
    return this.#shown;
  }

  /**
   * @param path - Behind the name of the repository: `manifests/v1`.
   * @returns An answer with status 200, or 206 where a range is asked for.
   * @throws AgentError `unreachable`, `unauthorized`, `notFound`, `imageFailed`.
   */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const url = this.#address(`${this.#options.endpoint.repository}/${path}`);
    let answer = await this.#ask(url, headers);
    const challenges = await this.#challengesOf(answer);
    if (challenges !== undefined) {
      answer.close();
      this.#authorization = await this.#authorize(challenges);
      answer = await this.#ask(url, headers);
    }
    const { status } = answer;
    if (status === 200 || (status === 206 && headers['range'] !== undefined)) return answer;
    answer.close();
    throw this.#refusal(status, path);
  }

  /**
   * Asks whether the registry is there, and takes the login if it wants one.
   *
   * @throws AgentError `unreachable`, `unauthorized`, `imageFailed`.
   */
  async ping(): Promise<void> {
    const url = this.#address('');
    using first = await this.#ask(url, {});
    if (first.status < 400) return;
    if (first.status !== 401) throw this.#refusal(first.status, url.pathname);
    this.#authorization = await this.#authorize(challengesIn(first));
    using second = await this.#ask(url, {});
    if (second.status >= 400) throw this.#refusal(second.status, url.pathname);
  }

  /**
   * The body of an answer, which is closed at its end. A connection that fails is `unreachable`.
   *
   * @param path - Of a blob: where its connection ends, it is asked for from there on, three times in all.
   */
  async *body(answer: HttpAnswer, path?: string): AsyncGenerator<Uint8Array> {
    let current = answer;
    let gotBytes = 0;
    let skippedBytes = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        // Their digest is known, and documents are bounded by who reads them.
        for await (const part of current.body({ maxBytes: Infinity, mayBeEncoded: true })) {
          const fresh = part.subarray(Math.min(skippedBytes, part.length));
          skippedBytes -= part.length - fresh.length;
          gotBytes += fresh.length;
          yield fresh;
        }
        return;
      } catch (error) {
        const isCut = isNetError(error) && CUT.has(error.code);
        if (!isCut || path === undefined || tries === MAX_TRIES)
          throw asAgentError(this.#options.endpoint.base, error, this.#options.signal);
      } finally {
        current.close();
      }
      current = await this.get(path, { range: `bytes=${gotBytes}-` });
      const isRest = current.headers['content-range']?.startsWith(`bytes ${gotBytes}-`) === true;
      // Whoever sends another part is found out by the digest.
      skippedBytes = current.status === 206 && isRest ? 0 : gotBytes;
    }
  }

  #address(path: string): URL {
    const { base, namespace } = this.#options.endpoint;
    const url = new URL(base);
    url.pathname = `${base.pathname}/${path}`;
    if (namespace !== undefined) url.searchParams.set('ns', namespace);
    return url;
  }

  async #ask(url: URL, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const question = { headers, authorization: this.#authorization };
    return await this.#options.connections.ask(url, question);
  }

  /** How the registry wants to know who we are; undefined where it does not. */
  async #challengesOf(answer: HttpAnswer): Promise<readonly Challenge[] | undefined> {
    const { status } = answer;
    if (status !== 401 && status !== 403 && status !== 404) return undefined;
    const own = challengesIn(answer);
    if (status === 401 && own.length > 0) return own;
    if (status !== 401 && this.#authorization !== undefined) return undefined;
    if ((await this.#findLogin()) === undefined) return status === 401 ? own : undefined;
    using root = await this.#ask(this.#address(''), {});
    return root.status === 401 || status === 401 ? challengesIn(root) : undefined;
  }

  #findLogin(): Promise<Login | undefined> {
    return (this.#login ??= this.#options.findLogin());
  }

  async #authorize(challenges: readonly Challenge[]): Promise<string> {
    const { endpoint, connections } = this.#options;
    const { base, repository } = endpoint;
    const login = await this.#findLogin();
    const { credentials, from } = login ?? {};
    const password = credentials?.kind === 'password' ? credentials : credentials?.password;
    if (credentials?.kind === 'identityToken') connections.hide(credentials.token);
    if (password !== undefined) connections.hide(password.password);
    this.#shown = from;
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined) {
      const { limits } = this.#options;
      const asked = { challenge: bearer, base, repository, credentials, connections, limits };
      return `Bearer ${await fetchToken(asked)}`;
    }
    const wantsBasic = challenges.some(({ scheme }) => scheme === 'basic');
    if (wantsBasic && password !== undefined) return basic(password);
    this.#shown = undefined;
    const found = wantsBasic
      ? 'no name and password for it'
      : 'no way to authenticate that we know';
    throw new AgentError(
      'unauthorized',
      `cannot ask ${base.origin}: found ${found}; wanted some in registries.yaml`,
    );
  }

  #refusal(status: number, path: string): AgentError {
    const code = ({ 401: 'unauthorized', 403: 'unauthorized', 404: 'notFound' } as const)[status];
    const { base, repository } = this.#options.endpoint;
    const of = repository === '' ? '' : ` of ${repository}`;
    const what = `get ${path}${of} from ${base.origin}`;
    const login = this.#shown === undefined ? '' : `; it was shown ${this.#shown}`;
    return new AgentError(
      code ?? 'imageFailed',
      `cannot ${what}: found status ${status}; wanted 200${login}`,
    );
  }
}

function challengesIn({ headers }: HttpAnswer): readonly Challenge[] {
  return [headers['www-authenticate'] ?? []].flat().flatMap(parseChallenges);
}
