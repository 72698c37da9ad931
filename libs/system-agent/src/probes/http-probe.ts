import { basicAuthorization, HttpClient, type RedirectRule, type TlsTrust } from '@wins/net';
import type { HttpGet } from '../plan/plan.js';
import { ProbeTls } from './probe-tls.js';

/** The client of the original asks ten times, and follows nothing after that. */
const MAX_REDIRECTS = 9;
/** So much of an answer is read, and none of it kept. */
const MAX_BODY_BYTES = 10 * 1024;
/** The signal of a probe limits it. */
const NO_LIMITS = { connectMs: Infinity, answerMs: Infinity, idleMs: Infinity, totalMs: Infinity };

/** A component may not make us ask others. */
const onSameHost: RedirectRule = (to, from) =>
  to.hostname === from.hostname ? undefined : 'one to the same host';

/** Asks probes. One client for all: to make one for each would be a tenth of the work. It holds no connection between two. */
export class Prober {
  readonly #tls = new ProbeTls();
  readonly #client = new HttpClient({
    ...{ environment: {}, tries: 1, userAgent: 'kube-probe/.' },
    limits: { ...NO_LIMITS, maxRedirects: MAX_REDIRECTS },
  });

  /** Whether an address answers with a status from 200 to 299, after redirects on the same host, and without a proxy. Never rejects. */
  async ask(
    url: URL,
    httpGet: HttpGet,
    signal: AbortSignal,
  ): Promise<{ readonly isWell: boolean; readonly fault: Error | undefined }> {
    const { trust, faults } = await this.#tls.trustFor(httpGet);
    return { isWell: await this.#isWell(url, trust, signal), fault: faults[0] };
  }

  async #isWell(url: URL, trust: TlsTrust, signal: AbortSignal): Promise<boolean> {
    const authorization = basicAuthorization(url);
    const asked = new URL(url);
    [asked.username, asked.password] = ['', ''];
    const request = {
      ...{ url: asked, trust, isDirect: true, redirects: onSameHost },
      // As the kubelet does.
      headers: { 'accept-encoding': undefined },
      ...(authorization !== undefined && { authorization }),
    };
    try {
      using answer = await this.#client.open(request, 'ask a probe', signal);
      let leftBytes = MAX_BODY_BYTES;
      for await (const part of answer.body({ maxBytes: Infinity, mayBeEncoded: true })) {
        leftBytes -= part.length;
        if (leftBytes <= 0) break;
      }
      return answer.status >= 200 && answer.status <= 299;
    } catch {
      // Any failure is the answer: what breaks off before it is whole is none.
      return false;
    }
  }
}
