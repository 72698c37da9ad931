import { createHash } from 'node:crypto';
import {
  isNetError,
  readCertificates,
  type Certificate,
  type HttpClient,
  type NetError,
  type TlsTrust,
} from '@wins/net';
import { below, parseServer } from '../http/parse-address.js';
import { rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';
import { checkToken } from '../register/request-headers.js';
import { askForProof, type ProofQuestion } from './cattle-proof.js';
import { judgeAuthority, type AuthorityFacts } from './judge-authority.js';
import type { ServerTrust, TrustWanted } from './server-trust.js';

const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 60_000;
const BY_CERTIFICATE = new Set(['unknownAuthority', 'certificateExpired', 'otherHost']);

/** A body of `/cacerts`, and how it was got. */
interface CaCerts {
  readonly body: Buffer;
  readonly checksum: string;
  readonly certificates: readonly Certificate[];
  readonly caPem: string;
}

/**
 * Finds out whether this is the server, and by which authorities it is known from then on. `/cacerts` is believed when its checksum is the
 * wanted one; without a checksum when the system's authorities verify the server, or when it proves to know the token. The token itself
 * is not sent; what is returned has been used: the certificate of the server is from its `roots`, has the name of the server, and is
 * valid today.
 *
 * Where `strictTls` is off and the server has a certificate of the system's authorities beside a believed `/cacerts`, the system's are what
 * `roots` holds, with a warning.
 *
 * @throws RancherError `untrusted`, `checksumMismatch`, `proofFailed`, `strictWithoutCa`, and what requests throw.
 */
export async function establishTrust(
  wanted: TrustWanted,
  settings: RancherSettings = {},
): Promise<ServerTrust> {
  const { timeoutMs = TIMEOUT_MS, strictTls = false, token } = wanted;
  const server = parseServer(wanted.server, settings.allowHttp ?? false);
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
  throw new RancherError(
    'strictWithoutCa',
    `cannot ${what}: found no certificates in /cacerts; wanted some for strict TLS: set the CA of Rancher, or turn strict TLS off`,
  );
}

/** The requests of one attempt. */
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
    if (checksum !== undefined) this.#require(body, checksum, 'notAsked');
    return this.#trust('plain', [], this.#read(body));
  }

  async byChecksum(checksum: string, strictTls: boolean): Promise<ServerTrust> {
    const { body } = await this.#get('anyCertificate');
    this.#require(body, checksum, 'notAsked');
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
    this.#require(body, undefined, question?.judge(body, hash) ?? 'notAsked', bySystem);
    return await this.#used('proof', this.#read(body), strictTls);
  }

  /** Asks once more, and shows the server what it is known by. */
  async #used(
    authority: 'checksum' | 'proof' | 'system',
    found: CaCerts,
    strictTls: boolean,
  ): Promise<ServerTrust> {
    const own = found.certificates.map(({ pem }) => pem);
    try {
      await this.#get(own);
      return this.#trust(authority, own, found);
    } catch (error) {
      const isUnknown = isNetError(error) && error.code === 'unknownAuthority';
      if (!isUnknown || strictTls) throw error;
      const roots = this.#client.settings.systemRoots();
      // The first reason is the one to tell.
      await this.#get(roots).catch((second: unknown) => {
        const isSame = isNetError(second) && BY_CERTIFICATE.has(second.code);
        throw isSame ? error : second;
      });
      this.#client.settings.onWarning(
        `the certificate of ${this.#server.origin} is from no authority of its /cacerts, but from one of the system: those are used`,
      );
      return this.#trust(authority, roots, found);
    }
  }

  async #get(
    roots: TlsTrust['roots'],
    asking: Partial<Pick<ProofQuestion, 'headers' | 'secrets'>> = {},
  ): Promise<{ readonly body: Buffer; readonly hash: string | undefined }> {
    const { headers, secrets } = asking;
    const { answer, body } = await this.#client.askForBytes(
      {
        url: below(this.#server, '/cacerts'),
        ...(headers && { headers }),
        ...(secrets && { secrets }),
        trust: { roots },
      },
      { what: this.#what, maxBytes: MAX_BYTES },
    );
    const hash = answer.headers['x-cattle-hash'];
    return { body, hash: Array.isArray(hash) ? undefined : hash };
  }

  /** @throws RancherError unless the body may be believed. */
  #require(
    body: Buffer,
    wantedChecksum: string | undefined,
    proof: AuthorityFacts['proof'],
    bySystem?: NetError<string>,
  ): void {
    const foundChecksum = sha256(body);
    const bodyBytes = body.length;
    const verdict = judgeAuthority({ wantedChecksum, foundChecksum, bodyBytes, proof });
    if ('authority' in verdict) return;
    const { code, found, wanted } = verdict;
    const why = bySystem === undefined ? '' : ` (${withoutWhat(bySystem, this.#what)})`;
    const message = `cannot ${this.#what}: found ${found}${why}; wanted ${wanted}`;
    throw new RancherError(code, message, bySystem && { cause: bySystem });
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

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function withoutWhat({ message }: NetError<string>, what: string): string {
  return message.replace(`cannot ${what}: `, '');
}
