import { keepConnectionInfo, NetError, type KeptConnectionInfo } from '@wins/net';
import { below, isHtml, rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';
import { checkToken, type ServerTrust } from '../trust/establish-trust.js';
import { quoteText } from '@wins/base';
import { randomBytes } from 'node:crypto';

/** Empty and missing fields are not sent. */
export interface NodeDescription {
  /** The cattle-id: 1 to 63 characters, valid as a label value. Registrations with the same id are the same machine. */
  readonly id: string;
  readonly nodeName?: string | undefined;
  readonly isWorker?: boolean | undefined;
  /** `key=value,key=value`. */
  readonly labels?: string | undefined;
  /** `key=value:NoSchedule,…`. */
  readonly taints?: string | undefined;
  readonly address?: string | undefined;
  readonly internalAddress?: string | undefined;
}

/** Node and token of a registration. */
export interface RegistrationWanted {
  readonly node: NodeDescription;
  readonly token: string;
  /** True to require certificate authorities in the kubeconfig. Default: false. */
  readonly strictTls?: boolean | undefined;
  /** Milliseconds to retry temporary failures. Default: 15 min. */
  readonly timeoutMs?: number | undefined;
}

const MAX_BYTES = 1_048_576;
/** Below Node's limit for all headers of a request. */
const MAX_HEADER_LENGTH = 12_288;
const TIMEOUT_MS = 900_000;
/** Longer than the 120 s for which the server itself waits for the machine. */
const ANSWER_MS = 130_000;
const WHAT = 'register the node';

/**
 * Over `https://`, sends the token only to a server that `roots` verify. Retries 429, 5xx and even 401,
 * because a server that is still starting can answer 401 or 500. @throws RancherError
 */
export async function registerNode(
  { server, roots }: Pick<ServerTrust, 'server' | 'roots'>,
  { node, token, strictTls = false, timeoutMs = TIMEOUT_MS }: RegistrationWanted,
  settings: RancherSettings = {},
): Promise<KeptConnectionInfo> {
  checkToken(token);
  const request = {
    url: below(server, '/v3/connect/agent'),
    headers: headersOf(node),
    trust: { roots },
    authorization: `Bearer ${token}`,
  };
  const { limits, allowHttp = false } = settings;
  const answerMs = Math.max(limits?.answerMs ?? 0, ANSWER_MS);
  using client = rancherClient({ ...settings, limits: { ...limits, answerMs } }, token);
  return await client.retry({ what: WHAT, timeoutMs }, async (each) => {
    const asked = each.askForBytes(request, { what: WHAT, maxBytes: MAX_BYTES });
    const { answer, body } = await asked.catch((error: unknown) => {
      throw told(error);
    });
    if (isHtml(answer.headers, body))
      throw refused(
        'badShape',
        'an HTML page; wanted JSON. Check that this is the address of Rancher',
      );
    const registration = keepConnectionInfo(body.toString('utf8'), allowHttp);
    if ('found' in registration)
      throw new RancherError('badShape', `cannot ${WHAT}: ${registration.found}`);
    if (strictTls && registration.info.access.ca === undefined) {
      const found = 'a kubeconfig without certificate-authority-data; wanted it for strict TLS';
      throw refused('strictWithoutCa', `${found}. Set the CA of Rancher, or turn strict TLS off`);
    }
    for (const warning of registration.info.warnings) each.settings.onWarning(warning);
    return registration;
  });
}

/** Adds a hint to 401 and 500, which usually mean a wrong token here. */
function told(error: unknown): unknown {
  if (!(error instanceof NetError) || (error.status !== 401 && error.status !== 500)) return error;
  const message = `${error.message}. Check that the token is correct and belongs to this cluster`;
  return error.reworded(message, { isTransient: true, cause: error });
}

/** The server stores all headers that begin with `X-Cattle-`, so empty values are omitted. */
function headersOf(node: NodeDescription): Readonly<Record<string, string>> {
  const verdict = judgeNodeId(node.id);
  if ('found' in verdict)
    throw refused('invalidRequest', `${verdict.found} as its id; wanted ${verdict.wanted}`);
  const values: Readonly<Record<string, string | boolean | undefined>> = {
    'x-cattle-id': verdict.id,
    'x-cattle-node-name': node.nodeName,
    'x-cattle-role-worker': node.isWorker,
    'x-cattle-labels': node.labels,
    'x-cattle-taints': node.taints,
    'x-cattle-address': node.address,
    'x-cattle-internal-address': node.internalAddress,
  };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(values)) {
    const text = String(value ?? '').trim();
    const wanted = `in ${name}; wanted at most ${MAX_HEADER_LENGTH} characters of ASCII`;
    if (/[^\x20-\x7e]/.test(text))
      throw refused('invalidRequest', `a line break or a letter beyond ASCII ${wanted}`);
    if (text.length > MAX_HEADER_LENGTH)
      throw refused('invalidRequest', `${text.length} characters ${wanted}`);
    if (text !== '') headers[name] = text;
  }
  return headers;
}

function refused(code: 'badShape' | 'invalidRequest' | 'strictWithoutCa', found: string) {
  return new RancherError(code, `cannot ${WHAT}: found ${found}`);
}

/** A valid node id, or the fault in two clauses for a message. */
export type NodeIdVerdict =
  | { readonly id: string }
  | { readonly found: string; readonly wanted: string };

/** A Kubernetes label value, because Rancher uses the id as one. */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** 62 random hex digits, so that cloned nodes get different ids. */
export function newNodeId(): string {
  return randomBytes(31).toString('hex');
}

/** Validates a cattle-id; ignores blanks, line breaks and a byte order mark around it. */
export function judgeNodeId(text: string): NodeIdVerdict {
  const id = text.replace(/^\ufeff/, '').trim();
  if (LABEL.test(id)) return { id };
  const found = id === '' ? 'nothing' : id.length > 63 ? `${id.length} characters` : quoteText(id);
  const wanted =
    '1 to 63 letters, digits, dots, dashes and underscores, a letter or digit at both ends';
  return { found, wanted };
}
