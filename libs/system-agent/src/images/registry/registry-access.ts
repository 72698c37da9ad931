import {
  HttpClient,
  isNetError,
  proxyOf,
  publicRoots,
  readCertificates,
  securely,
  withoutSecrets,
  type HttpAnswer,
  type TlsTrust,
} from '@wins/net';
import { messageOf, onSystemDrive, quoteText } from '@wins/base';
import { AgentError } from '../../agent-error.js';
import { imageFailed } from '../image-failure.js';
import type { ImageLimits } from '../image-limits.js';
import type { StoreParts } from '../store-options.js';
import {
  loginOfDocker,
  loginOfRegistries,
  readDockerConfig,
  type DockerConfig,
  type Login,
} from './credentials.js';
import type { Endpoint } from './endpoints.js';
import { entryOf, namesOfServer } from './host-entry.js';
import {
  readRegistries,
  readTrusted,
  type FoundRegistries,
  type RegistryConfig,
} from './registries-file.js';

/** Requests for one blob. */
const MAX_TRIES = 3;
/** The connection was there, and ended or went silent. */
const CUT = new Set(['interrupted', 'timedOut']);
/** Another try gives the same, and so does another registry that is asked in the same way. */
const REFUSED = new Set(['badStatus', 'badShape', 'invalidRequest', 'redirectRefused']);

/** A question to a server. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string | undefined;
  /** Makes it a POST, which holds credentials and follows no redirect. */
  readonly form?: URLSearchParams;
}

/** The registries of a node as its files say now, and HTTP with the login and the TLS settings that each host has there. Its opener closes it. */
export class RegistryAccess implements Disposable {
  readonly found: FoundRegistries;
  readonly limits: ImageLimits;
  readonly #options: StoreParts;
  readonly #signal: AbortSignal;
  readonly #docker: DockerConfig;
  readonly #client: HttpClient;
  readonly #trusts = new Map<string, Promise<TlsTrust>>();
  readonly #hidden: string[] = [];

  private constructor(
    options: StoreParts,
    { found, docker }: { readonly found: FoundRegistries; readonly docker: DockerConfig },
    signal: AbortSignal,
  ) {
    const { environment, limits, clock, onWarning } = options;
    const { idleMs, totalMs } = limits;
    this.found = found;
    this.limits = limits;
    this.#options = options;
    this.#signal = signal;
    this.#docker = docker;
    this.#client = new HttpClient({
      ...{ environment, clock, signal, keptConnections: 1 },
      onWarning: (message) => onWarning(this.#masked(message)),
      limits: { connectMs: idleMs, answerMs: idleMs, idleMs, totalMs },
    });
    for (const warning of found.warnings) onWarning(warning);
  }

  /** @throws AgentError `imageFailed` for a file that cannot be read, or that others can write to. */
  static async open(options: StoreParts, signal: AbortSignal): Promise<RegistryAccess> {
    const { trust, registriesFiles, dockerConfigFile } = options;
    const found = await readRegistries(registriesFiles, trust);
    const docker = dockerConfigFile ? await readDockerConfig(dockerConfigFile, trust) : {};
    return new RegistryAccess(options, { found, docker }, signal);
  }

  /**
   * Asks, follows redirects, and tries again what may pass. Authorization and certificates are for the host that was asked first: another one
   * gets what is configured for itself, and never `Authorization`.
   *
   * @returns The answer, whatever its status; the caller closes it.
   * @throws AgentError `unreachable`; `imageFailed` for redirects that are not followed and a server that stays busy.
   */
  async ask(url: URL, { headers = {}, authorization, form }: Question): Promise<HttpAnswer> {
    const posted = form && {
      ...{ method: 'POST' as const, body: form.toString(), isRepeatable: true },
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    };
    const request = {
      ...{ url, headers, trust: (to: URL) => this.#trustOf(to), ...posted },
      redirects: form === undefined ? securely : () => 'an answer',
      ...(authorization !== undefined && { authorization }),
    };
    try {
      return await this.#client.open(request, `ask ${url.origin}`);
    } catch (error) {
      const failure = this.#failure(url, error);
      if (!(failure instanceof AgentError) || this.#masked(failure.message) === failure.message)
        throw failure;
      // Without its cause, whose text is the same.
      throw new AgentError(failure.code, this.#masked(failure.message));
    }
  }

  /**
   * The bytes of an answer, which is closed at their end. A connection that fails is `unreachable`.
   *
   * @param askForRest - Asks for what begins at a byte: where the connection ends, it goes on from there, three times in all. Absent: it does
   *   not go on.
   * @throws AgentError `unreachable`, `imageFailed`; what `askForRest` throws.
   */
  async *body(
    answer: HttpAnswer,
    askForRest?: (fromByte: number) => Promise<HttpAnswer>,
  ): AsyncGenerator<Uint8Array> {
    let current = answer;
    let gotBytes = 0;
    let skippedBytes = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        // Their digest is known, and documents are bounded by who reads them.
        for await (const part of current.body({ maxBytes: Infinity, mayBeEncoded: true })) {
          const fresh = part.subarray(Math.min(skippedBytes, part.length));
          skippedBytes -= part.length - fresh.length;
          gotBytes += fresh.length;
          yield fresh;
        }
        return;
      } catch (error) {
        const isCut = isNetError(error) && CUT.has(error.code);
        if (!isCut || askForRest === undefined || tries === MAX_TRIES)
          throw this.#failure(answer.url, error);
      } finally {
        current.close();
      }
      current = await askForRest(gotBytes);
      const isRest = current.headers['content-range']?.startsWith(`bytes ${gotBytes}-`) === true;
      // The digest reveals a server that sends another part.
      skippedBytes = current.status === 206 && isRest ? 0 : gotBytes;
    }
  }

  /**
   * Finds the login of the agent for a registry: by `registries.yaml`, else by a credential provider, else by Docker's file.
   *
   * @throws AgentError `imageFailed`.
   */
  async findLogin({ base, repository }: Endpoint): Promise<Login | undefined> {
    const own = loginOfRegistries(base, this.found.registries);
    if (own !== undefined) return own;
    const host = base.host === 'index.docker.io' ? 'docker.io' : base.host;
    const provided = await this.#options.providers?.find(`${host}/${repository}`, this.#signal);
    return provided ?? loginOfDocker(base, this.#docker);
  }

  /** No message repeats this text from now on: a server may say again what it was shown. */
  hide(secret: string): void {
    this.#hidden.push(secret);
  }

  /** `host:port` of the proxy, without its password; empty for none. @throws NetError `invalidRequest`. */
  proxyHost(url: URL): string {
    return new URL(proxyOf(url, this.#options.environment) ?? 'none:').host;
  }

  /** Describes to people which authorities are trusted for a server, and which certificate the server gets. */
  describeTrust(url: URL): string {
    if (url.protocol === 'http:') return 'none: it has no TLS';
    const { ca_file: ca, cert_file: cert, insecure_skip_verify: isAny } = this.#tlsOf(url);
    const roots = isAny === true ? 'any certificate' : 'authorities of the system';
    const more = ca && isAny !== true ? `, and of ${ca}` : '';
    return `${roots}${more}${cert ? `; client certificate ${cert}` : ''}`;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #masked(message: string): string {
    return withoutSecrets(message, this.#hidden);
  }

  /** The reason why a server could not be asked. An address may hold secrets behind its origin, and no message has more of it. */
  #failure(url: URL, error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    if (error instanceof AgentError) return error;
    const isKnown = isNetError(error);
    const code = isKnown && REFUSED.has(error.code) ? 'imageFailed' : 'unreachable';
    const other = `cannot ask ${url.origin}: ${quoteText(messageOf(error))}`;
    return new AgentError(code, isKnown ? error.message : other, { cause: error });
  }

  #tlsOf(url: URL): NonNullable<RegistryConfig['tls']> {
    return entryOf(this.found.registries.configs, namesOfServer(url))?.value?.tls ?? {};
  }

  #trustOf(url: URL): Promise<TlsTrust> {
    const trust = this.#trusts.get(url.origin) ?? this.#readTrust(url);
    this.#trusts.set(url.origin, trust);
    return trust;
  }

  async #readTrust(url: URL): Promise<TlsTrust> {
    const { ca_file: ca, cert_file: certFile, key_file: keyFile, ...tls } = this.#tlsOf(url);
    const authorities = await this.#readAuthorities(ca);
    const [cert, key] = [await this.#readPem(certFile), await this.#readPem(keyFile)];
    if ((cert === undefined) !== (key === undefined))
      throw imageFailed(`ask ${url.origin}`, 'one of cert_file and key_file', 'both, or none');
    const roots = [...publicRoots(this.#options.environment), ...authorities];
    return {
      roots: tls.insecure_skip_verify === true ? 'anyCertificate' : roots,
      ...(cert !== undefined && key !== undefined && { clientCertificate: { cert, key } }),
    };
  }

  async #readAuthorities(path: string | null | undefined): Promise<readonly string[]> {
    const text = await this.#readPem(path);
    if (!path || text === undefined) return [];
    const { certificates, warnings } = readCertificates(text, quoteText(path));
    for (const warning of warnings) this.#options.onWarning(warning);
    if (certificates.length > 0) return certificates.map(({ pem }) => pem);
    throw imageFailed(`read ${path}`, 'no certificate that can be read', 'authorities');
  }

  async #readPem(path: string | null | undefined): Promise<string | undefined> {
    if (!path) return undefined;
    const text = await readTrusted(onSystemDrive(path), this.#options.trust);
    if (text !== undefined) return text;
    throw imageFailed(`read ${path}`, 'no file', 'what registries.yaml names');
  }
}
