import type { HttpAnswer } from '@wins/net';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { readDocument } from '../checked-bytes.js';
import { imageFailed } from '../image-failure.js';
import type { ImageLimits } from '../image-limits.js';
import type { Challenge } from './challenge.js';
import { basic, type Credentials, type NameAndPassword } from './credentials.js';
import type { HostConnections } from './host-connections.js';
import { parseUrl } from './parse-url.js';

const tokenAnswer = z.object({
  token: z.string().nullish(),
  access_token: z.string().nullish(),
});
/** Of a server that does not know the exchange of identity tokens: such a token is a password there. */
const KNOWS_NO_EXCHANGE = new Set([401, 404, 405]);

/** What a token is asked for by. */
export interface TokenWanted {
  /** That of the registry. */
  readonly challenge: Challenge;
  /** The address of the registry. */
  readonly base: URL;
  /** Empty for a login to the registry alone. */
  readonly repository: string;
  readonly credentials: Credentials | undefined;
  readonly connections: HostConnections;
  readonly limits: ImageLimits;
}

/**
 * Gets a token of the server that the registry names.
 *
 * @throws AgentError `unreachable`, `unauthorized`, `imageFailed`.
 */
export async function fetchToken(wanted: TokenWanted): Promise<string> {
  const { challenge, base, repository, credentials, connections, limits } = wanted;
  const { parameters } = challenge;
  const url = realmOf(parameters.get('realm') ?? '', base);
  const own = repository === '' ? undefined : `repository:${repository}:pull`;
  const scope = parameters.get('scope') ?? own;
  const question = {
    ...(parameters.has('service') ? { service: parameters.get('service') ?? '' } : {}),
    ...(scope !== undefined && { scope }),
  };
  const exchange = async (token: string): Promise<HttpAnswer> => {
    const grant = { grant_type: 'refresh_token', client_id: 'wins', refresh_token: token };
    const form = new URLSearchParams({ ...question, ...grant });
    return await connections.ask(url, { form });
  };
  const ask = async (password: NameAndPassword | undefined): Promise<HttpAnswer> => {
    const asked = new URL(url);
    for (const [name, value] of Object.entries(question)) asked.searchParams.set(name, value);
    return await connections.ask(asked, { authorization: password && basic(password) });
  };
  let answer: HttpAnswer;
  if (credentials?.kind === 'identityToken') {
    answer = await exchange(credentials.token);
    if (KNOWS_NO_EXCHANGE.has(answer.status)) {
      answer.close();
      answer = await ask(credentials.password);
    }
  } else answer = await ask(credentials);
  try {
    if (answer.status !== 200) {
      const found = `status ${answer.status}`;
      const message = `cannot get a token of ${url.origin}: found ${found}; wanted 200`;
      throw new AgentError('unauthorized', message);
    }
    const expected = { what: 'read a token', maxBytes: limits.documentBytes };
    return tokenIn(await readDocument(connections.body(answer), expected), url);
  } finally {
    answer.close();
  }
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
    // The cause would quote the answer, which may hold a token.
  }
  const token = answer.access_token || answer.token || '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw imageFailed(`get a token of ${url.origin}`, 'an answer without a usable one', 'a token');
}
