import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { SecureContext } from 'node:tls';

const MAX_REDIRECTS = 10;
/** So much of an answer is read, and none of it kept. */
const MAX_BODY_BYTES = 10 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];
const HEADERS = { 'User-Agent': 'kube-probe/.', Accept: '*/*', Connection: 'close' };

/** How a probe asks. */
export interface ProbeRequest {
  readonly url: URL;
  readonly insecure: boolean;
  readonly context: SecureContext;
  readonly signal: AbortSignal;
}

/** Whether an address answers with a status from 200 to 299, after redirects on the same host. Never rejects. */
export async function httpProbe({ url, ...how }: ProbeRequest): Promise<boolean> {
  try {
    let at = url;
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects += 1) {
      const { status, location } = await get({ url: at, ...how });
      if (!REDIRECTS.includes(status) || location === undefined) {
        return status >= 200 && status <= 299;
      }
      at = new URL(location, at);
      // Whoever is asked may not make us ask others.
      if (at.hostname !== url.hostname) return false;
    }
  } catch {
    // Any failure is the answer.
  }
  return false;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
}

function get({ url, insecure, context, signal }: ProbeRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { headers: HEADERS, agent: false, signal };
    const trust = { secureContext: context, rejectUnauthorized: !insecure };
    const request =
      url.protocol === 'https:' ? https.get(url, { ...options, ...trust }) : http.get(url, options);
    request.on('error', reject);
    // A server that changes the protocol makes Node close the connection without an error, and no signal ends what is closed.
    const onClose = (): void => reject(new Error('found no answer'));
    request.on('close', onClose);
    request.on('response', (response) => {
      request.off('close', onClose);
      const { statusCode: status = 0, headers } = response;
      const answered = (): void => resolve({ status, location: headers.location });
      readSome(response, answered, reject);
    });
  });
}

/** What breaks off before it is whole is no answer. */
function readSome(
  response: IncomingMessage,
  onEnd: () => void,
  onFailure: (error: unknown) => void,
): void {
  let leftBytes = MAX_BODY_BYTES;
  response.on('error', onFailure);
  response.on('end', onEnd);
  response.on('data', (bytes: Buffer) => {
    leftBytes -= bytes.length;
    if (leftBytes > 0) return;
    onEnd();
    response.destroy();
  });
}
