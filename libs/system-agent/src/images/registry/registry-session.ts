import { isNetError, type HttpAnswer } from '@wins/net';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { readDocument } from '../checked-bytes.js';
import type { ImageLimits } from '../image-limits.js';
import { imageFailed } from '../image-failure.js';
import { parseChallenges, type Challenge } from './challenge.js';
import type { Credentials } from './credentials.js';
import type { Endpoint } from './endpoints.js';
import { asAgentError, type HostConnections } from './host-connections.js';
import { parseUrl } from './parse-url.js';

/** As often as a request is sent. */
const MAX_TRIES = 3;
const tokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

export interface RegistrySessionOptions {
  readonly endpoint: Endpoint;
  readonly connections: HostConnections;
  readonly credentials: Credentials | undefined;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}

/**
 * One repository of one registry, asked without saying who we are until the registry wants to know.
 *
 * Docker's protocol lets the registry name the server that hands out tokens, and that one is shown the credentials of the registry,
 * though it may be another host: Docker Hub works so. They leave by HTTPS alone, but for a server of the same name as a registry that is
 * itself asked by plain HTTP.
 */
export class RegistrySession {
  readonly #options: RegistrySessionOptions;
  #authorization: string | undefined;

  constructor(options: RegistrySessionOptions) {
    this.#options = options;
    const { connections, credentials } = options;
    if (credentials !== undefined)
      connections.hide(credentials.kind === 'password' ? credentials.password : credentials.token);
  }

  /**
   * @param path - Behind the name of the repository: `manifests/v1`.
   * @returns An answer with status 200, or 206 where a range is asked for.
   * @throws AgentError `unreachable`, `unauthorized`, `notFound`, `imageFailed`.
   */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const { base, repository } = this.#options.endpoint;
    const url = new URL(base);
    url.pathname = `${base.pathname}/${repository}/${path}`;
    let answer = await this.#ask(url, headers);
    if (answer.status === 401) {
      answer.close();
      this.#authorization = await this.#authorize(answer.headers['www-authenticate']);
      answer = await this.#ask(url, headers);
    }
    const { status } = answer;
    if (status === 200 || (status === 206 && headers['range'] !== undefined)) return answer;
    answer.close();
    throw this.#refusal(status, path);
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
        const isCut = isNetError(error) && error.code === 'interrupted';
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

  async #ask(url: URL, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const question = { headers, authorization: this.#authorization };
    return await this.#options.connections.ask(url, question);
  }

  async #authorize(header: string | string[] | undefined): Promise<string> {
    const { credentials, endpoint } = this.#options;
    const challenges = [header ?? []].flat().flatMap(parseChallenges);
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined) return `Bearer ${await this.#fetchToken(bearer)}`;
    const wantsBasic = challenges.some(({ scheme }) => scheme === 'basic');
    if (wantsBasic && credentials?.kind === 'password') return basic(credentials);
    const found = wantsBasic
      ? 'no name and password for it'
      : 'no way to authenticate that we know';
    throw new AgentError(
      'unauthorized',
      `cannot ask ${endpoint.base.origin}: found ${found}; wanted some in registries.yaml`,
    );
  }

  async #fetchToken({ parameters }: Challenge): Promise<string> {
    const { endpoint, connections, credentials, limits } = this.#options;
    const url = this.#realm(parameters.get('realm') ?? '');
    const question = {
      ...(parameters.has('service') ? { service: parameters.get('service') ?? '' } : {}),
      scope: parameters.get('scope') ?? `repository:${endpoint.repository}:pull`,
    };
    let answer: HttpAnswer;
    if (credentials?.kind === 'identityToken') {
      const grant = {
        grant_type: 'refresh_token',
        client_id: 'wins',
        refresh_token: credentials.token,
      };
      answer = await connections.ask(url, { form: new URLSearchParams({ ...question, ...grant }) });
    } else {
      for (const [name, value] of Object.entries(question)) url.searchParams.set(name, value);
      const authorization = credentials && basic(credentials);
      answer = await connections.ask(url, { authorization });
    }
    if (answer.status !== 200) {
      answer.close();
      const found = `status ${answer.status}`;
      throw new AgentError(
        'unauthorized',
        `cannot get a token of ${url.origin}: found ${found}; wanted 200`,
      );
    }
    const text = await readDocument(this.body(answer), {
      what: 'read a token',
      maxBytes: limits.documentBytes,
    });
    return tokenOf(text, url);
  }

  #realm(text: string): URL {
    const { base } = this.#options.endpoint;
    const url = parseUrl(text);
    const plain =
      url?.protocol === 'http:' && base.protocol === 'http:' && url.hostname === base.hostname;
    if (url !== undefined && (url.protocol === 'https:' || plain)) return url;
    throw imageFailed(`get a token for ${base.origin}`, 'a server without HTTPS', 'one by HTTPS');
  }

  #refusal(status: number, path: string): AgentError {
    const code = ({ 401: 'unauthorized', 403: 'unauthorized', 404: 'notFound' } as const)[status];
    const { base, repository } = this.#options.endpoint;
    const what = `get ${path} of ${repository} from ${base.origin}`;
    return new AgentError(
      code ?? 'imageFailed',
      `cannot ${what}: found status ${status}; wanted 200`,
    );
  }
}

function basic(credentials: { username: string; password: string }): string {
  const text = `${credentials.username}:${credentials.password}`;
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}

function tokenOf(text: Buffer, url: URL): string {
  let answer: z.infer<typeof tokenAnswer> = {};
  try {
    answer = tokenAnswer.parse(JSON.parse(text.toString('utf8')));
  } catch {
    // The cause would quote the answer, which may hold a token.
  }
  const token = answer.token ?? answer.access_token ?? '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw imageFailed(`get a token of ${url.origin}`, 'an answer without a usable one', 'a token');
}
