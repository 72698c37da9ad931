import { basicAuthorization, HttpClient, type RedirectRule, type TlsTrust } from '@wins/net';

/** The client of the original asks ten times, and follows nothing after that. */
const MAX_REDIRECTS = 9;
/** So much of an answer is read, and none of it kept. */
const MAX_BODY_BYTES = 10 * 1024;
/** Whoever asks says for how long. */
const NO_LIMITS = { connectMs: Infinity, answerMs: Infinity, idleMs: Infinity, totalMs: Infinity };

/** How a probe asks. */
export interface ProbeRequest {
  readonly client: HttpClient;
  readonly url: URL;
  readonly trust: TlsTrust;
  readonly signal: AbortSignal;
}

/** Whoever is asked may not make us ask others. */
const onSameHost: RedirectRule = (to, from) =>
  to.hostname === from.hostname ? undefined : 'one to the same host';

/** A client for all probes: to make one for each would be a tenth of the work. It holds no connection between two. */
export function probeClient(): HttpClient {
  const limits = { ...NO_LIMITS, maxRedirects: MAX_REDIRECTS };
  return new HttpClient({ environment: {}, tries: 1, userAgent: 'kube-probe/.', limits });
}

/** Whether an address answers with a status from 200 to 299, after redirects on the same host, and without a proxy. Never rejects. */
export async function httpProbe({ client, url, trust, signal }: ProbeRequest): Promise<boolean> {
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
    using answer = await client.open(request, 'ask a probe', signal);
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
