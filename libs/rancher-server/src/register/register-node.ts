import { NetError, type KeptConnectionInfo } from '@wins/net';
import { isHtml } from '../http/judge-text.js';
import { below } from '../http/parse-address.js';
import { rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';
import type { ServerTrust } from '../trust/server-trust.js';
import { parseRegistration } from './parse-registration.js';
import type { RegistrationWanted } from './registration.js';
import { checkToken, registrationHeaders } from './request-headers.js';

const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 900_000;
/** The server itself waits 120 s for the machine. */
const ANSWER_MS = 130_000;
const WHAT = 'register the node';

/**
 * Registers the node (`/v3/connect/agent`) and returns what its agent reads. The token goes to the server that `trust` is about, over TLS
 * that its roots verify.
 *
 * 401, 429 and 5xx are asked again like what the network does: the server says 401 and 500 also while it is starting, and 500 for a token
 * that it does not know.
 *
 * @throws RancherError
 */
export async function registerNode(
  trust: Pick<ServerTrust, 'server' | 'roots'>,
  wanted: RegistrationWanted,
  settings: RancherSettings = {},
): Promise<KeptConnectionInfo> {
  const { node, token, strictTls = false, timeoutMs = TIMEOUT_MS } = wanted;
  checkToken(token);
  const headers = registrationHeaders(node);
  using client = rancherClient(withPatience(settings), token);
  const { server, roots } = trust;
  return await client.retry({ what: WHAT, timeoutMs }, async (each) => {
    const url = below(server, '/v3/connect/agent');
    const asked = { what: WHAT, maxBytes: MAX_BYTES };
    const request = { url, headers, trust: { roots }, authorization: `Bearer ${token}` };
    const { answer, body } = await each.askForBytes(request, asked).catch((error: unknown) => {
      throw told(error);
    });
    if (isHtml(answer.headers, body)) {
      const message = `cannot ${WHAT}: found an HTML page; wanted JSON: is this the address of Rancher?`;
      throw new RancherError('badShape', message);
    }
    const { allowHttp = false } = settings;
    const registration = parseRegistration(body.toString('utf8'), strictTls, allowHttp);
    for (const warning of registration.info.warnings) each.settings.onWarning(warning);
    return registration;
  });
}

function withPatience({ limits, ...settings }: RancherSettings): RancherSettings {
  const answerMs = Math.max(limits?.answerMs ?? 0, ANSWER_MS);
  return { ...settings, limits: { ...limits, answerMs } };
}

/** What 401 and 500 mean here. */
function told(error: unknown): unknown {
  if (!(error instanceof NetError) || (error.status !== 401 && error.status !== 500)) return error;
  const message = `${error.message}; is the token right, and of this cluster?`;
  return error.reworded(message, { isTransient: true, cause: error });
}
