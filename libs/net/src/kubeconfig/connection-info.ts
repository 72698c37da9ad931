import * as z from 'zod/mini';
import { judgeKubeconfig, type Kubeconfig } from './judge-kubeconfig.js';
import type { Refusal } from '../yaml/read-yaml.js';

/** Location of the Secret with this node's plan, and the access to its cluster. Contains credentials: never log it. */
export interface ConnectionInfo extends Kubeconfig {
  readonly namespace: string;
  readonly secretName: string;
}

/** A connection info to write to a file. Contains credentials: never log it. */
export interface KeptConnectionInfo {
  /** The text of `rancher2_connection_info.json`. */
  readonly text: string;
  readonly info: ConnectionInfo;
}

/** Maximum size of a Kubernetes Secret. */
export const MAX_CONNECTION_INFO_BYTES = 1_048_576;

/** Field names in lower case, because Go accepts any letter case. */
const FIELDS = z.object({
  kubeconfig: someText('kubeConfig'),
  namespace: objectName('namespace'),
  secretname: objectName('secretName'),
  allowhttp: z._default(z.boolean('no boolean for allowHttp'), false),
});
/** Go's encoder escapes these characters in strings. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * Parses `rancher2_connection_info.json`, at most 1 MiB. Field names may have any letter case, as in Go.
 * `wins join --allow-http` writes `allowHttp`, which permits an `http://` address of another machine.
 * Refusals and warnings contain no values.
 */
export function judgeConnectionInfo(text: string): ConnectionInfo | Refusal {
  if (Buffer.byteLength(text) > MAX_CONNECTION_INFO_BYTES)
    return { found: `found more than ${MAX_CONNECTION_INFO_BYTES} bytes` };
  const fields = readFields(text);
  if ('found' in fields) return fields;
  const { kubeconfig, namespace, secretname: secretName, allowhttp: allowHttp } = fields;
  const httpAdvice = ' ("wins join --allow-http" accepts it)';
  const read = judgeKubeconfig(kubeconfig, { allowHttp, httpAdvice });
  return 'found' in read ? read : { ...read, namespace, secretName };
}

/**
 * Formats the answer of `/v3/connect/agent` as Rancher does: ordered keys, two-space indent, `<`, `>` and `&` escaped, final LF.
 * @param allowHttp - Stored in the text; the server's answer cannot set it.
 */
export function keepConnectionInfo(
  answer: string,
  allowHttp: boolean,
): KeptConnectionInfo | Refusal {
  const fields = readFields(answer);
  if ('found' in fields) return fields;
  const { kubeconfig: kubeConfig, namespace, secretname: secretName } = fields;
  const kept = { kubeConfig, namespace, secretName, ...(allowHttp && { allowHttp }) };
  const json = JSON.stringify(kept, undefined, 2).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const text = `${json}\n`;
  const info = judgeConnectionInfo(text);
  return 'found' in info ? info : { text, info };
}

function readFields(text: string): z.infer<typeof FIELDS> | Refusal {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The parser's error quotes text that may be the token.
    return { found: 'found no JSON' };
  }
  const entries = typeof json === 'object' && json !== null ? Object.entries(json) : [];
  const fields = entries.map(([key, value]): [string, unknown] => [key.toLowerCase(), value]);
  const { data, error } = FIELDS.safeParse(Object.fromEntries(fields));
  if (data !== undefined) return data;
  const [{ message } = { message: 'no fields' }] = error.issues;
  return { found: `found ${message}; wanted JSON with kubeConfig, namespace and secretName` };
}

function someText(key: string) {
  const error = `no text for ${key}`;
  return z.string({ error, checks: [z.minLength(1, error)] });
}

/** A DNS subdomain (RFC 1123). */
function objectName(key: string) {
  const error = `no name of a Kubernetes object for ${key}`;
  const form = z.regex(/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/, error);
  return z.string({ error, checks: [form] });
}
