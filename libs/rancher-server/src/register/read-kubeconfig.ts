import { X509Certificate } from 'node:crypto';
import { quoteText } from '@wins/wins-program';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { RancherError } from '../rancher-error.js';
import { readPemBlocks } from '../trust/pem-blocks.js';

/** What must hold of a kubeconfig before it is kept. Who uses it judges it again. */
export interface ReadKubeconfig {
  readonly server: URL;
  readonly hasCa: boolean;
}

const NAMED = { name: z.string() };
const FILE = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ ...NAMED, context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(z.object({ ...NAMED, cluster: z.unknown() })),
  users: z.array(z.object({ ...NAMED, user: z.unknown() })),
});
// Lists of what is granted: a text from the network may name no program, no file, and no way around TLS.
const CLUSTER = z.strictObject({
  server: z.string().min(1),
  'certificate-authority-data': z.string().optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z.literal(false).optional(),
  'disable-compression': z.boolean().optional(),
  extensions: z.unknown().optional(),
});
const USER = z.strictObject({
  token: z.string().regex(/^[\x21-\x7e]+$/),
  extensions: z.unknown().optional(),
});

/**
 * Reads the current context: an https address, authorities in the text itself and a token are what `/v3/connect/agent` sends;
 * whatever else would have a meaning is refused by its name.
 *
 * @throws RancherError `badShape`; no value is repeated.
 */
export function readKubeconfig(text: string, allowHttp: boolean): ReadKubeconfig {
  const file = check(FILE, yamlOf(text), 'the file');
  const context = file.contexts.find(({ name }) => name === file['current-context'])?.context;
  const cluster = file.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = file.users.find(({ name }) => name === context?.user)?.user;
  const { server, 'certificate-authority-data': ca = '' } = check(CLUSTER, cluster, 'the cluster');
  check(USER, user, 'the user');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const isAllowed = url?.protocol === 'https:' || (allowHttp && url?.protocol === 'http:');
  if (url === undefined || !isAllowed || url.username !== '' || url.password !== '')
    throw badKubeconfig('no https:// address of a server');
  if (ca !== '') checkAuthorities(ca);
  return { server: url, hasCa: ca !== '' };
}

function yamlOf(text: string): unknown {
  try {
    // Without excerpts and warnings: the line at fault may hold the token.
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
    if (document.errors.length === 0) return document.toJS({ maxAliasCount: 0 });
  } catch {
    // Nested too deeply, or with aliases.
  }
  throw badKubeconfig('no YAML that can be read');
}

function check<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys : (issue?.path ?? []).map(String);
  // The names are those of a stranger.
  const isName = keys.length > 0 && keys.every((key) => /^[\w.-]{1,64}$/.test(key));
  const named = isName ? `${quoteText(keys.join(', '))} in ${where}` : where;
  throw badKubeconfig(`${named} as it cannot be used`);
}

function checkAuthorities(base64: string): void {
  const blocks = readPemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  const isGood =
    blocks.length > 0 &&
    blocks.every(({ label, bytes }) => label === 'CERTIFICATE' && isCertificate(bytes));
  if (!isGood) throw badKubeconfig('certificate-authority-data without readable certificates');
}

function isCertificate(bytes: Buffer | undefined): boolean {
  try {
    return bytes !== undefined && new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}

function badKubeconfig(found: string): RancherError {
  const message = `cannot register the node: found ${found} in the kubeconfig; wanted a server, its authorities and a token`;
  return new RancherError('badShape', message);
}
