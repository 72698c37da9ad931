import {
  isNetError,
  readCertificates,
  type Certificate,
  type HttpClient,
  type TlsTrust,
} from '@wins/net';
import { hash } from 'node:crypto';
import { quoteText } from '@wins/base';
import {
  below,
  parseAddress,
  rancherClient,
  type RancherSettings,
} from '../http/rancher-client.js';
import { RancherError, type RancherErrorCode } from '../rancher-error.js';
import { askForProof, type ProofQuestion } from './cattle-proof.js';

/**
 * Basis for trusting a server: checksum of `/cacerts`, the server's proof that it knows the token, authorities of the system,
 * or none for an allowed `http://` address.
 */
export type Authority = 'checksum' | 'proof' | 'system' | 'plain';

/** Result of {@link establishTrust}: the certificates by which to verify the server. */
export interface ServerTrust {
  readonly server: URL;
  readonly authority: Authority;
  /** PEM of the trusted authorities. */
  readonly roots: readonly string[];
  /** Certificates of `/cacerts`, without duplicates; empty if a public authority issued Rancher's certificate. */
  readonly certificates: readonly Certificate[];
  /** `certificates` as PEM, to write to a file. Has no other content of `/cacerts`, such as a private key. */
  readonly caPem: string;
  /** SHA-256 of the body of `/cacerts` as received, in lower-case hex. */
  readonly checksum: string;
}

/** The server, and the means by which it can prove its identity. */
export interface TrustWanted {
  /** `https://rancher.example`, with a path if Rancher is served below one. */
  readonly server: string;
  /** `CATTLE_CA_CHECKSUM`: hex SHA-256 of the body of `/cacerts`; may be empty. */
  readonly caChecksum?: string | undefined;
  /** Lets the server prove its identity by showing that it knows this token. Only the SHA-256 of the token is sent. */
  readonly token?: string | undefined;
  /** Trusts only the certificates of `/cacerts`, and fails if there are none. Default: false. */
  readonly strictTls?: boolean | undefined;
  /** Milliseconds to retry an unreachable server. Default: 1 min. */
  readonly timeoutMs?: number | undefined;
}

const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 60_000;
const UNTRUSTED = {
  right:
    'a server without certificates in /cacerts, whose own certificate the system does not trust',
  missing:
    'a server that does not prove that it knows the token (a bootstrap token of a machine cannot be proven)',
  notAsked: 'nothing that identifies the server',
} as const;
const WAYS_TO_TRUST =
  'a checksum of its /cacerts (CATTLE_CA_CHECKSUM, -CaChecksum), a token that the server proves to know, or a certificate that the system trusts';
const BY_CERTIFICATE = new Set(['unknownAuthority', 'certificateExpired', 'otherHost']);

interface CaCerts {
  readonly body: Buffer;
  readonly checksum: string;
  readonly certificates: readonly Certificate[];
  readonly caPem: string;
}

/**
 * Verifies the server and returns the authorities to trust.
 *
 * - With a checksum, `/cacerts` must match it.
 * - Without a checksum, the system's authorities must verify the server, or the server must prove that it knows the token.
 *   If the system's authorities verify the server and `strictTls` is off, they are returned.
 *
 * For all other HTTPS servers, a further request tests whether the certificates of `/cacerts` verify the server. If they do,
 * they are returned. If they do not, `strictTls` decides: when it is on, the function throws; when it is off, the system's
 * authorities are returned with a warning, provided that they verify the server.
 * @throws RancherError `untrusted`, `checksumMismatch`, `proofFailed`, `strictWithoutCa`, and the errors of requests.
 */
export async function establishTrust(
  wanted: TrustWanted,
  settings: RancherSettings = {},
): Promise<ServerTrust> {
  const { timeoutMs = TIMEOUT_MS, strictTls = false, token } = wanted;
  const server = parseServer(wanted.server, settings.allowHttp);
  const checksum = checksumOf(wanted.caChecksum);
  if (token !== undefined) checkToken(token);
  const what = `trust ${server.origin}`;
  using client = rancherClient(settings, token);
  const trust = await client.retry({ what, timeoutMs }, async (each) => {
    const asking = new Asking(server, what, each);
    if (server.protocol === 'http:') return await asking.plain(checksum);
    if (checksum !== undefined) return await asking.byChecksum(checksum, strictTls);
    return await asking.bySystemOrProof(token, strictTls);
  });
  if (!strictTls || trust.certificates.length > 0) return trust;
  const message = `cannot ${what}: /cacerts has no certificates, which strict TLS needs. Set the CA of Rancher, or turn strict TLS off`;
  throw new RancherError('strictWithoutCa', message);
}

class Asking {
  readonly #server: URL;
  readonly #what: string;
  readonly #client: HttpClient;

  constructor(server: URL, what: string, client: HttpClient) {
    this.#server = server;
    this.#what = what;
    this.#client = client;
  }

  async plain(checksum: string | undefined): Promise<ServerTrust> {
    const { body } = await this.#get([]);
    if (checksum !== undefined) this.#require(body, checksum);
    return this.#trust('plain', [], this.#read(body));
  }

  async byChecksum(checksum: string, strictTls: boolean): Promise<ServerTrust> {
    const { body } = await this.#get('anyCertificate');
    this.#require(body, checksum);
    return await this.#used('checksum', this.#read(body), strictTls);
  }

  async bySystemOrProof(token: string | undefined, strictTls: boolean): Promise<ServerTrust> {
    const roots = this.#client.settings.systemRoots();
    const bySystem = await this.#get(roots).catch((error: unknown) => {
      if (isNetError(error) && BY_CERTIFICATE.has(error.code)) return error;
      throw error;
    });
    if (!isNetError(bySystem)) {
      const found = this.#read(bySystem.body);
      return strictTls && found.certificates.length > 0
        ? await this.#used('system', found, true)
        : this.#trust('system', roots, found);
    }
    const question = token === undefined ? undefined : askForProof(token);
    const { body, hash } = await this.#get('anyCertificate', question);
    this.#require(body, undefined, question?.judge(body, hash), bySystem);
    return await this.#used('proof', this.#read(body), strictTls);
  }

  async #used(authority: 'checksum' | 'proof' | 'system', found: CaCerts, strictTls: boolean) {
    const own = found.certificates.map(({ pem }) => pem);
    try {
      await this.#get(own);
      return this.#trust(authority, own, found);
    } catch (error) {
      const isUnknown = isNetError(error) && error.code === 'unknownAuthority';
      if (!isUnknown || strictTls) throw error;
      const roots = this.#client.settings.systemRoots();
      await this.#get(roots).catch((second: unknown) => {
        const isSame = isNetError(second) && BY_CERTIFICATE.has(second.code);
        throw isSame ? error : second;
      });
      this.#client.settings.onWarning(
        `the certificate of ${this.#server.origin} is not from an authority of its /cacerts, but from one of the system: using those of the system`,
      );
      return this.#trust(authority, roots, found);
    }
  }

  async #get(
    roots: TlsTrust['roots'],
    { headers = {}, secrets = [] }: Partial<Pick<ProofQuestion, 'headers' | 'secrets'>> = {},
  ): Promise<{ readonly body: Buffer; readonly hash: string | undefined }> {
    const { answer, body } = await this.#client.askForBytes(
      { url: below(this.#server, '/cacerts'), headers, secrets, trust: { roots } },
      { what: this.#what, maxBytes: MAX_BYTES },
    );
    const hash = answer.headers['x-cattle-hash'];
    return { body, hash: Array.isArray(hash) ? undefined : hash };
  }

  /**
   * Requires the body to match the checksum `wanted`. If `wanted` is undefined, `proof` must be `right`, which means that the
   * server has proved that it knows the token. Refuses an empty body, which contains no certificates.
   * @param bySystem - Why the system's authorities do not verify the server.
   */
  #require(
    body: Buffer,
    wanted: string | undefined,
    proof?: ReturnType<ProofQuestion['judge']>,
    bySystem?: Error,
  ): void {
    const isEmpty = body.length === 0;
    const why = bySystem && ` (${bySystem.message.replace(`cannot ${this.#what}: `, '')})`;
    const refused = (code: RancherErrorCode, found: string, next: string) => {
      const message = `cannot ${this.#what}: found ${found}${why ?? ''}; wanted ${next}`;
      return new RancherError(code, message, bySystem && { cause: bySystem });
    };
    if (wanted !== undefined) {
      const checksum = sha256(body);
      if (wanted.toLowerCase() !== checksum) {
        const found = `a /cacerts with the SHA-256 ${checksum}`;
        const empty = isEmpty ? ', that of an empty body' : '';
        throw refused('checksumMismatch', found + empty, quoteText(wanted));
      }
      if (isEmpty) throw refused('badShape', 'an empty /cacerts', 'certificates');
      return;
    }
    if (proof === 'right' && !isEmpty) return;
    if (proof === 'wrong')
      throw refused(
        'proofFailed',
        'a wrong proof of the token (X-Cattle-Hash)',
        'the right one; another machine may intercept the connection',
      );
    throw refused('untrusted', UNTRUSTED[proof ?? 'notAsked'], WAYS_TO_TRUST);
  }

  #read(body: Buffer): CaCerts {
    const { certificates, warnings } = readCertificates(body.toString('latin1'), '/cacerts');
    for (const warning of warnings) this.#client.settings.onWarning(warning);
    if (certificates.length === 0 && body.toString('latin1').trim() !== '') {
      const message = `cannot ${this.#what}: found no certificate in /cacerts; wanted PEM`;
      throw new RancherError('badShape', message);
    }
    const caPem = certificates.map(({ pem }) => pem).join('');
    return { body, checksum: sha256(body), certificates, caPem };
  }

  #trust(
    authority: ServerTrust['authority'],
    roots: readonly string[],
    { certificates, caPem, checksum }: CaCerts,
  ): ServerTrust {
    return { server: this.#server, authority, roots, certificates, caPem, checksum };
  }
}

function checksumOf(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') return undefined;
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return trimmed;
  const message = `cannot trust a checksum of the CA: found ${trimmed.length} characters; wanted the 64 hex digits of a SHA-256`;
  throw new RancherError('invalidRequest', message);
}

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

/** @throws RancherError `invalidRequest`; the message omits the token. */
export function checkToken(token: string): void {
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return;
  const found = token === '' ? 'an empty one' : 'a blank, a line break or a letter beyond ASCII';
  const message = `cannot use the token: found ${found}; wanted 1 to 4096 characters of ASCII`;
  throw new RancherError('invalidRequest', message);
}

function parseServer(text: string, allowHttp: boolean | undefined): URL {
  const url = parseAddress(text.trim(), 'ask the Rancher server', allowHttp);
  if (url.search !== '') {
    const message = 'cannot ask the Rancher server: its address has a query';
    throw new RancherError('invalidRequest', message);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}
