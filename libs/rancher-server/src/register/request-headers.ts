import { RancherError } from '../rancher-error.js';
import { judgeNodeId } from './node-id.js';
import type { NodeDescription } from './registration.js';

/** Node's own limit for all headers of a request, with room for the rest. */
const MAX_LENGTH = 12_288;

/** @throws RancherError `invalidRequest`; the token is not repeated. */
export function checkToken(token: string): void {
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return;
  const found = token === '' ? 'an empty one' : 'a blank, a line break or a letter beyond ASCII';
  const message = `cannot use the token: found ${found}; wanted 1 to 4096 characters of ASCII`;
  throw new RancherError('invalidRequest', message);
}

/**
 * The headers by which a node says who it is. The server keeps all that begin with `X-Cattle-`; what is empty is left out.
 *
 * @throws RancherError `invalidRequest` for what cannot be a header, or an id that cannot be a label.
 */
export function registrationHeaders(node: NodeDescription): Readonly<Record<string, string>> {
  const verdict = judgeNodeId(node.id);
  if (verdict.kind === 'refused') {
    const { found, wanted } = verdict;
    const message = `cannot register the node: found ${found} as its id; wanted ${wanted}`;
    throw new RancherError('invalidRequest', message);
  }
  const values: Readonly<Record<string, string | boolean | undefined>> = {
    'x-cattle-id': verdict.id,
    'x-cattle-node-name': node.nodeName,
    'x-cattle-role-worker': node.isWorker,
    'x-cattle-role-etcd': node.isEtcd,
    'x-cattle-role-control-plane': node.isControlPlane,
    'x-cattle-labels': node.labels,
    'x-cattle-taints': node.taints,
    'x-cattle-address': node.address,
    'x-cattle-internal-address': node.internalAddress,
  };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(values)) {
    const text = String(value ?? '').trim();
    if (text === '') continue;
    checkValue(name, text);
    headers[name] = text;
  }
  return headers;
}

function checkValue(name: string, text: string): void {
  const found = /[^\x20-\x7e]/.test(text)
    ? 'a line break or a letter beyond ASCII'
    : text.length > MAX_LENGTH
      ? `${text.length} characters`
      : undefined;
  if (found === undefined) return;
  const message = `cannot register the node: found ${found} in ${name}; wanted at most ${MAX_LENGTH} characters of ASCII`;
  throw new RancherError('invalidRequest', message);
}
