import tls from 'node:tls';
import { quoteText } from '@wins/base';
import * as z from 'zod/mini';
import { readCertificates } from '../pem/read-certificates.js';
import { readYaml, type Refusal } from '../yaml/read-yaml.js';

/** Contains secrets: never log it. */
export interface ClusterAccess {
  /** `https:`, or `http:` if allowed. May have a path, as Rancher's proxies do; API paths are appended to it. */
  readonly server: URL;
  /** Name that the certificate must have. Default: the host of `server`. */
  readonly tlsServerName?: string | undefined;
  /** PEM with at least one certificate, and nothing else. */
  readonly ca?: string | undefined;
  /** Bearer token. */
  readonly token?: string | undefined;
  /** PEM; the key belongs to the certificate. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** Access that a kubeconfig grants. Contains credentials: never log it. */
export interface Kubeconfig {
  readonly access: ClusterAccess;
  /** Ignored or dangerous parts of the kubeconfig; one line each, without values. */
  readonly warnings: readonly string[];
}

/** Options of {@link judgeKubeconfig}. */
export interface KubeconfigOptions {
  /** Accepts an `http://` address of another machine. This machine's addresses are always accepted. Default false. */
  readonly allowHttp?: boolean | undefined;
  /** Added to the refusal of such an address. Default: nothing. */
  readonly httpAdvice?: string | undefined;
}

/**
 * Judges the current context of a kubeconfig. Its cluster and user may have an address, a TLS server name, a token, and inline
 * certificates and private keys. `extensions`, `disable-compression` and `insecure-skip-tls-verify: false` are ignored.
 * Any other field is refused. So the text cannot run a program (`exec`, `auth-provider`),
 * disable verification, or make the daemon send a file elsewhere (`tokenFile`, `certificate-authority`,
 * `client-certificate`, `client-key`). Refusals and warnings contain no values.
 */
export function judgeKubeconfig(
  text: string,
  options: KubeconfigOptions = {},
): Kubeconfig | Refusal {
  const warnings: string[] = [];
  const yaml = readYaml(kubeconfig(options, warnings), text, 'the kubeconfig');
  if ('found' in yaml) return yaml;
  const { cluster, user } = yaml.value;
  const { 'certificate-authority-data': ca, 'tls-server-name': tlsServerName } = cluster;
  const access = {
    server: cluster.server,
    ...(tlsServerName && { tlsServerName }),
    ...(ca && { ca }),
    ...user,
  };
  return { access, warnings };
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
/** Allows visible ASCII only, because the token becomes the value of a header. */
const token = z.string({ checks: [z.regex(/^[\x21-\x7e]*$/)] });
const THIS_MACHINE = /^(127(\.\d+){3}|\[::1\]|localhost)$/;

function kubeconfig(options: KubeconfigOptions, warnings: string[]) {
  const current = z.transform(
    ({ contexts, clusters, users, ...file }: z.infer<typeof FILE>, payload) => {
      const named = <Entry extends { readonly name: string }>(
        entries: readonly Entry[],
        name: string | undefined,
        list: string,
      ): Entry | undefined => {
        const found = entries.find((entry) => entry.name === name);
        if (found === undefined) refuse(payload, 'no entry with the required name', [list]);
        return found;
      };
      const context = named(contexts, file['current-context'], 'contexts')?.context;
      if (context === undefined) return z.NEVER;
      const cluster = named(clusters, context.cluster, 'clusters')?.cluster;
      const user = named(users, context.user, 'users')?.user;
      return { cluster, user };
    },
  );
  const cluster = z.strictObject({
    server: server(options, warnings),
    'certificate-authority-data': certificates('cluster.certificate-authority-data', warnings),
    'tls-server-name': z.optional(z.string()),
    'insecure-skip-tls-verify': z.optional(z.literal(false)),
    'disable-compression': z.optional(z.boolean()),
    extensions: z.optional(z.unknown()),
  });
  const user = z.strictObject({
    token: z.optional(token),
    'client-certificate-data': certificates('user.client-certificate-data', warnings),
    'client-key-data': z.optional(z.string()),
    extensions: z.optional(z.unknown()),
  });
  const credentials = z.transform((written: z.infer<typeof user>, payload) => {
    const found = credentialsOf(written);
    return typeof found === 'string' ? refuse(payload, found) : found;
  });
  return z.pipe(z.pipe(FILE, current), z.object({ cluster, user: z.pipe(user, credentials) }));
}

function refuse(
  { issues, value }: z.core.ParsePayload,
  message: string,
  path: PropertyKey[] = [],
): never {
  issues.push({ code: 'custom', input: value, message, path });
  return z.NEVER;
}

function server({ allowHttp = false, httpAdvice = '' }: KubeconfigOptions, warnings: string[]) {
  const address = z.transform((text: string, payload) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
      return refuse(payload, 'no https:// address');
    const isClear = url.protocol === 'http:' && !THIS_MACHINE.test(url.hostname);
    if (isClear && allowHttp)
      warnings.push('the API server has no TLS: the token is sent in clear text');
    else if (isClear)
      refuse(
        payload,
        `an http:// address of another machine, which would receive the token in clear text${httpAdvice},`,
      );
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      refuse(payload, 'an address with a user, a query or a fragment');
    return url;
  });
  return z.pipe(z.string(), address);
}

function certificates(key: string, warnings: string[]) {
  const pem = z.transform((base64: string, payload) => {
    if (base64 === '') return undefined;
    const text = Buffer.from(base64, 'base64').toString('latin1');
    const found = readCertificates(text, `${quoteText(key)} of the kubeconfig`);
    warnings.push(...found.warnings);
    if (found.certificates.length > 0) return found.certificates.map((each) => each.pem).join('');
    return refuse(payload, 'no certificate that can be read (base64 of PEM)');
  });
  return z.optional(z.pipe(z.string(), pem));
}

function credentialsOf(user: {
  readonly token?: string | undefined;
  readonly 'client-certificate-data'?: string | undefined;
  readonly 'client-key-data'?: string | undefined;
}): Pick<ClusterAccess, 'token' | 'clientCertificate'> | string {
  const { token, 'client-certificate-data': cert, 'client-key-data': keyData } = user;
  const key = keyData ? Buffer.from(keyData, 'base64').toString('latin1') : undefined;
  if (cert === undefined && key === undefined)
    return token ? { token } : 'neither a token nor a client certificate';
  if (cert === undefined || key === undefined)
    return 'one of client-certificate-data and client-key-data without the other';
  try {
    tls.createSecureContext({ cert, key });
  } catch {
    return 'a client certificate and a key that cannot be read, or do not belong together';
  }
  return { ...(token && { token }), clientCertificate: { cert, key } };
}
