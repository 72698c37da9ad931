import { RancherError } from '../rancher-error.js';
import { quoteForeign } from './foreign-text.js';
import { networkFailure } from './network-failure.js';
import { hostAndPort } from './open-connection.js';
import type { RequestLifetime } from './request-lifetime.js';
import type { Answer } from './send-request.js';

export interface Reading {
  readonly lifetime: RequestLifetime;
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly secrets: readonly string[];
}

/** How many bytes an answer says that it has; undefined when it says nothing. */
export function declaredLength({ headers }: Answer): number | undefined {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

/**
 * The body of an answer, part by part, as it is on the wire: what is encoded is refused, as it was not asked for and may be a bomb.
 *
 * @throws RancherError `badShape`, `tooLarge`, `interrupted`, `timedOut`.
 */
export async function* readParts(
  answer: Answer,
  { lifetime, maxBytes, idleMs, secrets }: Reading,
): AsyncGenerator<Buffer, void, undefined> {
  const { response, headers, url } = answer;
  const { what } = lifetime;
  const peer = hostAndPort(url);
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    const found = `found an answer encoded as ${quoteForeign(encoding, secrets)}`;
    throw new RancherError('badShape', `cannot ${what}: ${found}; wanted it as it is`);
  }
  const tooLarge = (found: string) =>
    new RancherError(
      'tooLarge',
      `cannot ${what}: found ${found} bytes; wanted at most ${maxBytes}`,
    );
  const declared = declaredLength(answer) ?? 0;
  if (declared > maxBytes) throw tooLarge(`${declared}`);

  const parts = response[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let sizeBytes = 0;
  for (;;) {
    let next: IteratorResult<Buffer, undefined>;
    try {
      const late = `${peer} sent nothing more`;
      next = await lifetime.within(idleMs, late, () => parts.next());
    } catch (error) {
      throw lifetime.cause ?? networkFailure(error, 'answer', { what, peer, secrets });
    }
    if (next.done === true) return;
    sizeBytes += next.value.length;
    if (sizeBytes > maxBytes) throw tooLarge(`more than ${maxBytes}`);
    yield next.value;
  }
}
