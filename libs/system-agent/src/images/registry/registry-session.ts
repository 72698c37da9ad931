import type { HttpAnswer } from '@wins/net';
import { AgentError } from '../../agent-error.js';
import { basic, type Login, type Credentials } from './credentials.js';
import { type Endpoint, parseUrl } from './endpoints.js';
import type { RegistryAccess } from './registry-access.js';
import * as z from 'zod/mini';
import { readDocument } from '../checked-bytes.js';
import { imageFailed } from '../image-failure.js';

/**
 * One repository of one registry. Sends no credentials until the registry requests them with 401. A 403 or 404 may hide
 * content from anonymous clients, so the session then checks whether `/v2/` requests credentials.
 * By Docker's protocol, the registry names a token server. That server receives the registry's credentials, even if it is
 * another host, as with Docker Hub. It must use HTTPS, unless it is on the host of a plain-HTTP registry.
 */
export class RegistrySession {
  readonly #endpoint: Endpoint;
  readonly #access: RegistryAccess;
  #authorization: string | undefined;
  readonly #logins: AsyncGenerator<Login, undefined>;
  #login: Promise<Login | undefined> | undefined;
  /** Sources of the logins that the registry has refused. */
  readonly #refused: string[] = [];
  /** Messages of the credential providers that have failed. */
  readonly #failures: string[] = [];
  /** True once the registry has accepted the current login: only a registry that refuses it gets another one. */
  #isAccepted = false;
  /** Source of the credentials sent last. */
  shown: string | undefined;

  constructor(endpoint: Endpoint, access: RegistryAccess) {
    this.#endpoint = endpoint;
    this.#access = access;
    this.#logins = access.logins(endpoint, (failure) => this.#failures.push(failure));
  }

  /** Source of the first login for this repository, which is found even if no registry has requested it. @throws AgentError `imageFailed`. */
  async findLogin(): Promise<string> {
    return this.shown ?? (await this.#firstLogin())?.from ?? '';
  }

  /** Accepts status 200, or 206 for a range. @throws AgentError `unreachable`, `unauthorized`, `notFound`, `imageFailed`. */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const answer = await this.#ask(`${this.#endpoint.repository}/${path}`, headers);
    const { status } = answer;
    if (status === 200 || (status === 206 && headers['range'] !== undefined)) return answer;
    answer.close();
    throw this.#refusal(status, path);
  }

  /** Checks the login. @throws AgentError `unreachable`, `unauthorized`, `imageFailed`. */
  async ping(): Promise<void> {
    using answer = await this.#ask('');
    if (answer.status >= 400) throw this.#refusal(answer.status, this.#address('').pathname);
  }

  #address(path: string): URL {
    const { base, namespace } = this.#endpoint;
    const url = new URL(base);
    url.pathname = `${base.pathname}/${path}`;
    if (namespace !== undefined) url.searchParams.set('ns', namespace);
    return url;
  }

  async #ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const first = await this.#askOnce(path, headers);
    const challenges = await this.#challengesOf(first, path);
    if (challenges === undefined) return first;
    first.close();
    for (;;) {
      const outcome = await this.#askWithLogin(challenges, path, headers);
      const isRefused = outcome instanceof AgentError || REFUSED.has(outcome.status);
      if (!isRefused) this.#isAccepted = true;
      if (!isRefused || !(await this.#hasAnother())) {
        if (!(outcome instanceof AgentError)) return outcome;
        throw new AgentError(outcome.code, `${outcome.message}${this.#told()}`);
      }
      if (!(outcome instanceof AgentError)) outcome.close();
    }
  }

  /** Returns, rather than throws, the refusal of a token server. */
  async #askWithLogin(
    challenges: readonly Challenge[],
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer | AgentError> {
    try {
      this.#authorization = await this.#authorize(challenges);
    } catch (error) {
      if (error instanceof AgentError && error.code === 'unauthorized') return error;
      throw error;
    }
    return await this.#askOnce(path, headers);
  }

  /** Moves on to the next login, if there is one, after the registry has refused the current one. */
  async #hasAnother(): Promise<boolean> {
    if (this.#isAccepted || this.shown === undefined) return false;
    const { value: next } = await this.#logins.next();
    if (next === undefined) return false;
    this.#refused.push(this.shown);
    this.#login = Promise.resolve(next);
    return true;
  }

  #askOnce(path: string, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const authorization = this.#authorization;
    return this.#access.ask(this.#address(path), { ...(headers && { headers }), authorization });
  }

  async #challengesOf(answer: HttpAnswer, path: string): Promise<readonly Challenge[] | undefined> {
    const { status } = answer;
    if (!REFUSED.has(status)) return undefined;
    const own = path === '' ? challengesOfRoot(answer) : challengesIn(answer);
    if (status === 401 && own.length > 0) return own;
    if (status !== 401 && this.#authorization !== undefined) return undefined;
    if ((await this.#firstLogin()) === undefined) return status === 401 ? own : undefined;
    using root = await this.#askOnce('');
    return root.status === 401 || status === 401 ? challengesOfRoot(root) : undefined;
  }

  #firstLogin(): Promise<Login | undefined> {
    return (this.#login ??= this.#logins.next().then(({ value }) => value));
  }

  async #authorize(challenges: readonly Challenge[]): Promise<string> {
    const { credentials, from } = (await this.#firstLogin()) ?? {};
    for (const secret of [credentials?.identityToken, credentials?.password])
      if (secret !== undefined) this.#access.hide(secret);
    this.shown = from;
    const challenge = challenges.find(({ scheme }) => scheme === 'bearer');
    if (challenge !== undefined)
      return `Bearer ${await fetchToken(challenge, this.#endpoint, credentials, this.#access)}`;
    const wantsBasic = challenges.some(({ scheme }) => scheme === 'basic');
    if (wantsBasic && credentials !== undefined) return basic(credentials);
    this.shown = undefined;
    const found = wantsBasic
      ? 'no name and password for it; wanted them in registries.yaml'
      : 'no supported authentication scheme; wanted Basic or Bearer';
    throw new AgentError(
      'unauthorized',
      `cannot ask ${this.#endpoint.base.origin}: found ${found}`,
    );
  }

  #refusal(status: number, path: string): AgentError {
    const code = ({ 401: 'unauthorized', 403: 'unauthorized', 404: 'notFound' } as const)[status];
    const { base, repository } = this.#endpoint;
    const of = repository === '' ? '' : ` of ${repository}`;
    const what = `get ${path}${of} from ${base.origin}`;
    const message = `cannot ${what}: found status ${status}; wanted 200${this.#told()}`;
    return new AgentError(code ?? 'imageFailed', message);
  }

  /** The logins that were used, and the providers that failed to supply one. */
  #told(): string {
    const used = [...this.#refused, ...(this.shown === undefined ? [] : [this.shown])];
    return [...(used.length === 0 ? [] : [`used ${used.join(', ')}`]), ...this.#failures]
      .map((each) => `; ${each}`)
      .join('');
  }
}

/** 403 and 404 may hide content from a client that the registry does not know. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 404]);

function challengesIn({ headers }: HttpAnswer): readonly Challenge[] {
  return [headers['www-authenticate'] ?? []].flat().flatMap(parseChallenges);
}

/** Without the scope, which is that of another repository or a placeholder: `/v2/` does not know which image is wanted. */
function challengesOfRoot(answer: HttpAnswer): readonly Challenge[] {
  return challengesIn(answer).map(({ scheme, parameters }) => ({
    scheme,
    parameters: new Map([...parameters].filter(([name]) => name !== 'scope')),
  }));
}

const MAX_LENGTH = 8192;
const PART = /\s*,?\s*(?:([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)(?=\s|,|$))/y;

function parseChallenges(header: string): readonly Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  if (header.length > MAX_LENGTH) return challenges;
  PART.lastIndex = 0;
  for (let match = PART.exec(header); match !== null; match = PART.exec(header)) {
    const [, name, quoted, bare, scheme] = match;
    if (scheme !== undefined)
      challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined)
      challenges
        .at(-1)
        ?.parameters.set(name.toLowerCase(), bare ?? quoted?.replace(/\\(.)/g, '$1') ?? '');
  }
  return challenges;
}

export interface Challenge {
  /** Lower case: `basic`, `bearer`. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const tokenAnswer = z.object({ token: z.nullish(z.string()), access_token: z.nullish(z.string()) });
/** Status codes of a token server that cannot exchange identity tokens. The agent then sends it the `password` instead. */
const KNOWS_NO_EXCHANGE = new Set([401, 404, 405]);

/** An empty `repository` requests no access. @throws AgentError `unreachable`, `unauthorized`, `imageFailed`. */
export async function fetchToken(
  { parameters }: Challenge,
  { base, repository }: Endpoint,
  credentials: Credentials | undefined,
  access: RegistryAccess,
): Promise<string> {
  const url = realmOf(parameters.get('realm') ?? '', base);
  const own = repository === '' ? undefined : `repository:${repository}:pull`;
  const scope = parameters.get('scope') || own;
  const question = new URLSearchParams();
  for (const [name, value] of Object.entries({ service: parameters.get('service'), scope }))
    if (value !== undefined) question.set(name, value);
  const exchange = async (token: string): Promise<HttpAnswer> => {
    const grant = { grant_type: 'refresh_token', client_id: 'wins', refresh_token: token };
    const form = new URLSearchParams([...question, ...Object.entries(grant)]);
    return await access.ask(url, { form });
  };
  const ask = async (): Promise<HttpAnswer> => {
    const asked = new URL(url);
    for (const [name, value] of question) asked.searchParams.set(name, value);
    return await access.ask(asked, { authorization: credentials && basic(credentials) });
  };
  const token = credentials?.identityToken;
  let answer = await (token === undefined ? ask() : exchange(token));
  if (token !== undefined && KNOWS_NO_EXCHANGE.has(answer.status)) {
    answer.close();
    answer = await ask();
  }
  if (answer.status !== 200) {
    answer.close();
    const message = `cannot get a token of ${url.origin}: found status ${answer.status}; wanted 200`;
    throw new AgentError('unauthorized', message);
  }
  const expected = { what: 'read a token', maxBytes: access.limits.documentBytes };
  return tokenIn(await readDocument(access.body(answer), expected), url);
}

function realmOf(text: string, base: URL): URL {
  const url = parseUrl(text);
  const isPlain =
    url?.protocol === 'http:' && base.protocol === 'http:' && url.hostname === base.hostname;
  if (url !== undefined && (url.protocol === 'https:' || isPlain)) return url;
  throw imageFailed(`get a token for ${base.origin}`, 'a server without HTTPS', 'one by HTTPS');
}

function tokenIn(text: Buffer, url: URL): string {
  let answer: z.infer<typeof tokenAnswer> = {};
  try {
    answer = tokenAnswer.parse(JSON.parse(text.toString('utf8')));
  } catch {
    // Drop the error: it would quote the answer, which may contain a token.
  }
  const token = answer.access_token || answer.token || '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw imageFailed(`get a token of ${url.origin}`, 'an answer without a usable one', 'a token');
}
