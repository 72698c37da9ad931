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
import type { ImageLimits } from '../checked-bytes.js';
import type { StoreParts } from '../store-options.js';
import {
  loginOfDocker,
  loginOfRegistries,
  readDockerConfig,
  type DockerConfig,
  type Login,
} from './credentials.js';
import type { Endpoint } from './endpoints.js';
import {
  entryOf,
  namesOfServer,
  readRegistries,
  readTrusted,
  type FoundRegistries,
  type RegistryConfig,
} from './registries-file.js';

const MAX_TRIES = 3;
const CUT = new Set(['interrupted', 'timedOut']);
const REFUSED = new Set(['badStatus', 'badShape', 'invalidRequest', 'redirectRefused']);

export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string | undefined;
  /** Makes the request a POST, which follows no redirect because it contains credentials. */
  readonly form?: URLSearchParams;
}

/** Sends requests with each host's login and TLS settings. The caller of `open` disposes of the object. */
export class RegistryAccess implements Disposable {
  readonly found: FoundRegistries;
  readonly limits: ImageLimits;
  readonly #options: StoreParts;
  readonly #signal: AbortSignal;
  readonly #docker: DockerConfig;
  readonly #client: HttpClient;
  readonly #trusts = new Map<string, Promise<TlsTrust>>();
  readonly #hidden: string[] = [];
  readonly #warned = new Set<string>();

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
      environment,
      clock,
      signal,
      keptConnections: 1,
      onWarning: (message) => onWarning(this.#masked(message)),
      limits: { connectMs: idleMs, answerMs: idleMs, idleMs, totalMs },
    });
    for (const warning of found.warnings) onWarning(warning);
  }

  /** @throws AgentError `imageFailed` for an unreadable or untrusted file. */
  static async open(options: StoreParts, signal: AbortSignal): Promise<RegistryAccess> {
    const { trust, registriesFiles, dockerConfigFile } = options;
    const found = await readRegistries(registriesFiles, trust);
    const docker = dockerConfigFile ? await readDockerConfig(dockerConfigFile, trust) : {};
    return new RegistryAccess(options, { found, docker }, signal);
  }

  /**
   * A redirect to another host uses that host's TLS settings, and sends no `Authorization`. The caller closes the answer.
   * @throws AgentError `unreachable`; `imageFailed` for refused redirects and a server that stays busy.
   */
  async ask(url: URL, { headers = {}, authorization, form }: Question): Promise<HttpAnswer> {
    const posted = form && {
      method: 'POST' as const,
      body: form.toString(),
      isRepeatable: true,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    };
    const request = {
      url,
      headers,
      trust: (to: URL) => this.#trustOf(to),
      ...posted,
      redirects: form === undefined ? securely : () => 'an answer',
      ...(authorization !== undefined && { authorization }),
    };
    try {
      return await this.#client.open(request, `ask ${url.origin}`);
    } catch (error) {
      const failure = this.#failure(url, error);
      if (!(failure instanceof AgentError) || this.#masked(failure.message) === failure.message)
        throw failure;
      // Omit the cause, because its text is not masked.
      throw new AgentError(failure.code, this.#masked(failure.message));
    }
  }

  /**
   * Yields the content of `answer`. If the connection breaks or times out, calls `askForRest` for the remaining bytes, at most
   * twice.
   * @throws AgentError `unreachable`, `imageFailed`; errors of `askForRest`.
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
        // No limit: the reader checks the size or the digest.
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
      // Treat any other answer as the whole content. If it is not, the digest will not match.
      skippedBytes = current.status === 206 && isRest ? 0 : gotBytes;
    }
  }

  /**
   * Yields the login of `registries.yaml`. If it has none, yields those of the credential providers, then that of Docker's
   * file. Warns of a provider that fails, and tells `onFailure` its message. @throws AgentError `imageFailed`.
   */
  async *logins(
    { base, repository }: Endpoint,
    onFailure: (message: string) => void,
  ): AsyncGenerator<Login, undefined> {
    const own = loginOfRegistries(base, this.found.registries);
    if (own !== undefined) {
      yield own;
      return undefined;
    }
    const host = base.host === 'index.docker.io' ? 'docker.io' : base.host;
    const failed = ({ message }: AgentError): void => {
      const masked = this.#masked(message);
      this.#warnOnce(masked);
      onFailure(masked);
    };
    const { providers } = this.#options;
    if (providers !== undefined)
      yield* providers.find(`${host}/${repository}`, this.#signal, failed);
    const last = loginOfDocker(base, this.#docker);
    if (last !== undefined) yield last;
    return undefined;
  }

  /** Masks a secret in later messages, because a server may repeat it. */
  hide(secret: string): void {
    this.#hidden.push(secret);
  }

  /** `host:port` of the proxy, without its password; empty for none. @throws NetError `invalidRequest`. */
  proxyHost(url: URL): string {
    return new URL(proxyOf(url, this.#options.environment) ?? 'none:').host;
  }

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

  /** Several endpoints of an image may ask the same provider. */
  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.onWarning(message);
  }

  #masked(message: string): string {
    return withoutSecrets(message, this.#hidden);
  }

  /** Names only the origin of an address, because the rest may contain secrets. */
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
    throw imageFailed(`read ${path}`, 'no file', 'the file that registries.yaml names');
  }
}
