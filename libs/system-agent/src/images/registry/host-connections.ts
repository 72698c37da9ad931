import {
  HttpClient,
  isNetError,
  publicRoots,
  readCertificates,
  securely,
  withoutSecrets,
  type Environment,
  type HttpAnswer,
  type TlsTrust,
} from '@wins/net';
import type { FileTrust } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';
import { AgentError } from '../../agent-error.js';
import type { Clock } from '../../ports.js';
import { imageFailed } from '../image-failure.js';
import type { ImageLimits } from '../image-limits.js';
import { entryOf, namesOfServer } from './host-entry.js';
import { readTrusted, type RegistryConfig, type Registries } from './registries-file.js';

/** Another try gives the same, and so does another registry that is asked in the same way. */
const REFUSED = new Set(['badStatus', 'badShape', 'invalidRequest', 'redirectRefused']);

/** A question to a server. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string | undefined;
  /** Makes it a POST, which holds credentials and follows no redirect. */
  readonly form?: URLSearchParams;
}

export interface HostConnectionsOptions {
  /** Names proxies, and the file of the system's authorities. */
  readonly environment: Environment;
  readonly registries: Registries;
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly limits: ImageLimits;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
  readonly signal: AbortSignal;
}

/** HTTP with the TLS settings that each host has in `registries.yaml`. Whoever makes it closes it. */
export class HostConnections {
  readonly #options: HostConnectionsOptions;
  readonly #client: HttpClient;
  readonly #trusts = new Map<string, Promise<TlsTrust>>();
  readonly #hidden: string[] = [];

  constructor(options: HostConnectionsOptions) {
    this.#options = options;
    const { environment, limits, clock, signal } = options;
    const { idleMs, totalMs } = limits;
    this.#client = new HttpClient({
      ...{ environment, clock, signal, keptConnections: 1 },
      onWarning: (message) => options.onWarning(this.#masked(message)),
      limits: { connectMs: idleMs, answerMs: idleMs, idleMs, totalMs },
    });
  }

  /**
   * Asks, follows redirects, and tries again what may pass. Authorization and certificates are for the host that was asked first: another one gets what is
   * configured for itself, and never `Authorization`.
   *
   * @returns Whatever the answer is; whoever asks closes it.
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
      const failure = asAgentError(url, error, this.#options.signal);
      if (!(failure instanceof AgentError) || this.#masked(failure.message) === failure.message)
        throw failure;
      // Without its cause, whose text is the same.
      throw new AgentError(failure.code, this.#masked(failure.message));
    }
  }

  /** No message repeats this text from now on: a server may say again what it was shown. */
  hide(secret: string): void {
    this.#hidden.push(secret);
  }

  close(): void {
    this.#client.close();
  }

  #masked(message: string): string {
    return withoutSecrets(message, this.#hidden);
  }

  /** Whose certificates are believed of a server, and which one it is shown, for people. */
  describeTrust(url: URL): string {
    if (url.protocol === 'http:') return 'none: it has no TLS';
    const { ca_file: ca, cert_file: cert, insecure_skip_verify: isAny } = this.#tlsOf(url);
    const roots = isAny === true ? 'any certificate' : 'authorities of the system';
    const more = ca && isAny !== true ? `, and of ${ca}` : '';
    return `${roots}${more}${cert ? `; it is shown ${cert}` : ''}`;
  }

  /** The bytes of an answer. @throws AgentError `unreachable`, `imageFailed`. */
  async *body(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
    try {
      yield* answer.body({ maxBytes: Infinity, mayBeEncoded: true });
    } catch (error) {
      throw asAgentError(answer.url, error, this.#options.signal);
    }
  }

  #tlsOf(url: URL): NonNullable<RegistryConfig['tls']> {
    return entryOf(this.#options.registries.configs, namesOfServer(url))?.value?.tls ?? {};
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
    const text = await readTrusted(path, this.#options.trust);
    if (text !== undefined) return text;
    throw imageFailed(`read ${path}`, 'no file', 'what registries.yaml names');
  }
}

/** The reason why a server could not be asked. An address may hold secrets behind its origin, and no message has more of it. */
export function asAgentError(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AgentError) return error;
  if (!isNetError(error)) {
    const message = `cannot ask ${url.origin}: ${quoteText(messageOf(error))}`;
    return new AgentError('unreachable', message, { cause: error });
  }
  const code = REFUSED.has(error.code) ? 'imageFailed' : 'unreachable';
  return new AgentError(code, error.message, { cause: error });
}
