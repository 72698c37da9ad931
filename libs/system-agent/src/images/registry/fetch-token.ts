import type { HttpAnswer } from '@wins/net';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { readDocument } from '../checked-bytes.js';
import { imageFailed } from '../image-failure.js';
import { basic, type Credentials } from './credentials.js';
import { parseUrl, type Endpoint } from './endpoints.js';
import type { RegistryAccess } from './registry-access.js';

export interface Challenge {
  /** Lower case: `basic`, `bearer`. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const tokenAnswer = z.object({ token: z.string().nullish(), access_token: z.string().nullish() });
/** Statuses of a server without the exchange of identity tokens, where the token is a password. */
const KNOWS_NO_EXCHANGE = new Set([401, 404, 405]);

/**
 * Requests a token from the server that the registry names; for a login alone if `repository` is empty.
 * @throws AgentError `unreachable`, `unauthorized`, `imageFailed`.
 */
export async function fetchToken(
  { parameters }: Challenge,
  { base, repository }: Endpoint,
  credentials: Credentials | undefined,
  access: RegistryAccess,
): Promise<string> {
  const url = realmOf(parameters.get('realm') ?? '', base);
  const own = repository === '' ? undefined : `repository:${repository}:pull`;
  const scope = parameters.get('scope') ?? own;
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
    // The cause would quote the answer, which may contain a token.
  }
  const token = answer.access_token || answer.token || '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw imageFailed(`get a token of ${url.origin}`, 'an answer without a usable one', 'a token');
}
