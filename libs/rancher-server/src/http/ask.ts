import { RancherError } from '../rancher-error.js';
import { quoteForeign } from './foreign-text.js';
import type { CompleteSettings } from './http-settings.js';
import { judgeRedirect } from './judge-redirect.js';
import { readParts } from './read-parts.js';
import { RequestLifetime } from './request-lifetime.js';
import { retryAfterMs } from './retry-after.js';
import { secretsOf, sendRequest, type Answer, type Question } from './send-request.js';

/** How an answer is read. */
export interface Asked {
  /** What is done, as the end of "cannot". */
  readonly what: string;
  /** Of the body. */
  readonly maxBytes: number;
  readonly settings: CompleteSettings;
}

const TOLD_BYTES = 512;

/**
 * Asks, follows redirects, and hands over the answer with status 200 and its body; all is closed once `use` ends.
 *
 * @throws RancherError
 */
export async function ask<T>(
  question: Question,
  { what, maxBytes, settings }: Asked,
  use: (answer: Answer, parts: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const { limits, signal } = settings;
  const lifetime = new RequestLifetime({ what, totalMs: limits.totalMs, signal });
  try {
    const secrets = secretsOf(question, settings);
    const answer = await followed(question, settings, lifetime);
    const reading = { lifetime, idleMs: limits.idleMs, secrets };
    if (answer.status !== 200) {
      const found = readParts(answer, { ...reading, maxBytes: TOLD_BYTES });
      throw await badStatus(answer, found, what, secrets);
    }
    return await use(answer, readParts(answer, { ...reading, maxBytes }));
  } finally {
    lifetime.close();
  }
}

/** Asks for a body that is small enough to be held. */
export async function askForBytes(
  question: Question,
  asked: Asked,
): Promise<{ readonly answer: Answer; readonly body: Buffer }> {
  return await ask(question, asked, async (answer, parts) => {
    const all: Buffer[] = [];
    for await (const part of parts) all.push(part);
    return { answer, body: Buffer.concat(all) };
  });
}

async function followed(
  question: Question,
  settings: CompleteSettings,
  lifetime: RequestLifetime,
): Promise<Answer> {
  const { maxRedirects } = settings.limits;
  const { authority } = question;
  const isBound = authority.token !== undefined || authority.roots === 'anyCertificate';
  const secrets = secretsOf(question, settings);
  let { url } = question;
  for (let count = 0; ; count += 1) {
    const answer = await sendRequest({ ...question, url }, settings, lifetime);
    const verdict = judgeRedirect({
      ...{ from: url, status: answer.status, location: answer.headers.location },
      ...{ count, maxRedirects, isBound, secrets },
    });
    if (verdict === undefined) return answer;
    answer.response.destroy();
    if ('to' in verdict) url = verdict.to;
    else {
      const message = `cannot ${lifetime.what}: found ${verdict.found}; wanted ${verdict.wanted}`;
      throw new RancherError('redirectRefused', message);
    }
  }
}

async function badStatus(
  { status, headers }: Answer,
  parts: AsyncIterable<Buffer>,
  what: string,
  secrets: readonly string[],
): Promise<RancherError> {
  const said = await beginning(parts);
  const quoted = said === '' ? '' : ` with ${quoteForeign(said, secrets)}`;
  const waitMs = retryAfterMs(headers['retry-after'], Date.now());
  return new RancherError(
    'badStatus',
    `cannot ${what}: found status ${status}${quoted}; wanted 200`,
    {
      status,
      isTransient: status === 429 || status >= 500,
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    },
  );
}

/** What a server says of its refusal; a text that is long or not whole is left out, as a secret may be cut in it. */
async function beginning(parts: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  try {
    for await (const part of parts) all.push(part);
  } catch {
    return '';
  }
  return Buffer.concat(all).toString('utf8').trim();
}
