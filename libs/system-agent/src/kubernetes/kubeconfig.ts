import { createPrivateKey, X509Certificate } from 'node:crypto';
import { quoteText } from '@wins/wins-program';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { AgentError } from '../agent-error.js';

/** Where an API server is, how it is known, and what is shown to it. */
export interface ClusterAccess {
  /** `https:`, or `http:` to this machine itself; its path, which proxies of Rancher have, comes before those of the API. */
  readonly server: URL;
  /** The name that the certificate must have, where it is not that of `server`. */
  readonly tlsServerName?: string;
  /** PEM of the authorities that its certificate may be from. */
  readonly ca?: string;
  readonly token?: string;
  /** PEM. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

/**
 * Reads the current context of a kubeconfig. What it grants is a list: the address, the certificates and keys in the file itself, and a
 * token. Everything else in the cluster or the user of the context is refused by its name, so that the text can neither run a program
 * (`exec`, `auth-provider`) nor make the daemon read a file and send it somewhere (`tokenFile`, `certificate-authority`,
 * `client-certificate`, `client-key`, which a kubeconfig for other programs may have) nor switch verification off. Other contexts are
 * not looked at.
 *
 * @throws AgentError `invalidConnection`; no message repeats a value.
 */
export function parseKubeconfig(text: string): ClusterAccess {
  const file = check(FILE, yamlOf(text), []);
  const name = file['current-context'];
  const context = named(file.contexts, name, 'contexts').context;
  const clusterPath = ['clusters', context.cluster, 'cluster'];
  const cluster = check(
    CLUSTER,
    named(file.clusters, context.cluster, 'clusters').cluster,
    clusterPath,
  );
  const userPath = ['users', context.user, 'user'];
  const user = check(USER, named(file.users, context.user, 'users').user, userPath);

  const ca = pem(cluster['certificate-authority-data'], [
    ...clusterPath,
    'certificate-authority-data',
  ]);
  const cert = pem(user['client-certificate-data'], [...userPath, 'client-certificate-data']);
  const key = pem(user['client-key-data'], [...userPath, 'client-key-data']);
  if ((cert === undefined) !== (key === undefined)) {
    throw refused(
      'found one of client-certificate-data and client-key-data; wanted both',
      userPath,
    );
  }
  checkPem(cert, (each) => new X509Certificate(each), [...userPath, 'client-certificate-data']);
  checkPem(key, createPrivateKey, [...userPath, 'client-key-data']);
  for (const each of ca?.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [
    ca,
  ]) {
    checkPem(each, (one) => new X509Certificate(one), [
      ...clusterPath,
      'certificate-authority-data',
    ]);
  }
  return {
    server: serverOf(cluster.server, [...clusterPath, 'server']),
    ...(cluster['tls-server-name'] && { tlsServerName: cluster['tls-server-name'] }),
    ...(ca !== undefined && { ca }),
    ...(user.token && { token: user.token }),
    ...(cert !== undefined && key !== undefined && { clientCertificate: { cert, key } }),
  };
}

type KeyPath = readonly string[];

const NAMED = { name: z.string() };
const FILE = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ ...NAMED, context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(z.object({ ...NAMED, cluster: z.unknown() })),
  users: z.array(z.object({ ...NAMED, user: z.unknown() })),
});
const CLUSTER = z.strictObject({
  server: z.string(),
  'certificate-authority-data': z.string().optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z.literal(false).optional(),
  'disable-compression': z.boolean().optional(),
  extensions: z.unknown().optional(),
});
const USER = z.strictObject({
  // It becomes the value of a header.
  token: z
    .string()
    .regex(/^[\x21-\x7e]*$/)
    .optional(),
  'client-certificate-data': z.string().optional(),
  'client-key-data': z.string().optional(),
  extensions: z.unknown().optional(),
});

function yamlOf(text: string): unknown {
  try {
    // Without excerpts and warnings: the line at fault may hold the token.
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
    const [error] = document.errors;
    if (error === undefined) return document.toJS();
    throw refused(`found no YAML (${error.code} at offset ${error.pos[0]})`, []);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw refused('found YAML that is nested too deeply, or has too many aliases', []);
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, path: KeyPath): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = [...path, ...(issue?.path ?? []).map(String)];
  if (issue?.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => quoteText(key)).join(', ');
    throw refused(`found ${keys}; wanted only ${wantedOf(schema)}`, at);
  }
  const wanted = issue?.code === 'invalid_type' ? `; wanted ${issue.expected}` : '';
  throw refused(`found a value that cannot be used${wanted}`, at);
}

function wantedOf(schema: z.ZodType): string {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape).join(', ') : '';
}

function named<T extends { readonly name: string }>(
  entries: readonly T[],
  name: string,
  list: string,
): T {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw refused(`found nothing with the name ${quoteText(name)}`, [list]);
  return found;
}

function pem(base64: string | undefined, path: KeyPath): string | undefined {
  if (base64 === undefined || base64 === '') return undefined;
  const text = Buffer.from(base64, 'base64').toString('latin1');
  if (text.includes('-----BEGIN ')) return text;
  throw refused('found something else; wanted base64 of PEM', path);
}

function checkPem(text: string | undefined, read: (text: string) => unknown, path: KeyPath): void {
  if (text === undefined) return;
  try {
    read(text);
  } catch {
    throw refused('found PEM that cannot be read', path);
  }
}

function serverOf(text: string, path: KeyPath): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'http:';
  if (url === undefined || (url.protocol !== 'https:' && !isPlain)) {
    throw refused('found no https:// address', path);
  }
  if (isPlain && !/^(127(\.\d+){3}|\[::1\]|localhost)$/.test(url.hostname)) {
    throw refused(
      'found an http:// address of another machine, to which the token would be sent in the clear; wanted https://',
      path,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw refused('found a user, a query or a fragment in the address; wanted none', path);
  }
  return url;
}

function refused(found: string, path: KeyPath): AgentError {
  const where = path.length === 0 ? '' : ` ${quoteText(path.join('.'))} of`;
  return new AgentError('invalidConnection', `cannot use${where} the kubeconfig: ${found}`);
}
