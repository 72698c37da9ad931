import type { Clock } from '@wins/time';
import { distrusted, type FileTrust } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/base';
import * as z from 'zod/mini';
import { AgentError } from '../../agent-error.js';
import { asImageError, parseJson } from '../image-failure.js';
import type { Login } from '../registry/credentials.js';
import {
  goDuration,
  matchesImage,
  PROTOCOL,
  readProviders,
  type CredentialProvider,
  type CredentialProviderPaths,
} from './provider-config.js';
import { runProvider } from './run-provider.js';

const response = z.object({
  apiVersion: z.literal(PROTOCOL),
  kind: z.literal('CredentialProviderResponse'),
  cacheKeyType: z.enum(['Image', 'Registry', 'Global']),
  cacheDuration: z.nullish(goDuration),
  auth: z.nullish(z.record(z.string(), z.object({ username: z.string(), password: z.string() }))),
});
type Answer = z.infer<typeof response>;

/** Beyond this, the oldest cached answer is removed. */
const MAX_KEPT = 100;
const LIMIT_MS = 60_000;

/** One run of a credential provider, for the audit log. */
export interface ProviderRun {
  readonly name: string;
  readonly file: string;
  /** Image for which it supplies credentials. */
  readonly image: string;
}

export interface CredentialProvidersOptions {
  readonly paths: CredentialProviderPaths;
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Time limit for each call of a provider. Default: 1 min, as for the kubelet. */
  readonly limitMs?: number | undefined;
  readonly onRun?: ((run: ProviderRun) => Promise<void>) | undefined;
}

/**
 * Runs credential providers: programs that supply short-lived credentials by the kubelet's exec protocol.
 * Caches an answer for its `cacheDuration`, or for the provider's `defaultCacheDuration` if the answer has none.
 */
export class CredentialProviders {
  readonly #options: CredentialProvidersOptions;
  /** `untilMs`: time of the monotonic clock. */
  readonly #kept = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
  }

  /**
   * Yields the logins of all matching providers, as the kubelet combines them. Runs the next provider only if the caller
   * asks for more. Reports a provider that fails to `onFailure`, and continues. `image`: `host[:port]/repository`.
   * @throws AgentError `imageFailed` for an unusable configuration; a rejection of `onRun`; the reason of the signal.
   */
  async *find(
    image: string,
    signal: AbortSignal,
    onFailure: (failure: AgentError) => void,
  ): AsyncGenerator<Login, undefined> {
    for (const provider of await readProviders(this.#options.paths, this.#options.trust)) {
      if (!provider.matchImages.some((pattern) => matchesImage(pattern, image))) continue;
      const answer =
        this.#keptAnswer(provider, image) ?? (await this.#ask(provider, image, signal));
      if (answer instanceof AgentError) {
        onFailure(answer);
        continue;
      }
      // As in the kubelet, reverse order tries more specific names first.
      const logins = Object.entries(answer.auth ?? {}).sort(([one], [other]) =>
        one < other ? 1 : -1,
      );
      for (const [name, credentials] of logins)
        if (matchesImage(name, image))
          yield { credentials, from: `the credential provider ${provider.name}` };
    }
    return undefined;
  }

  #keptAnswer({ name }: CredentialProvider, image: string): Answer | undefined {
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const kept = this.#kept.get(keyOf(name, type, image));
      if (kept !== undefined && kept.untilMs > this.#options.clock.monotonicMs())
        return kept.answer;
    }
    return undefined;
  }

  /** Returns the failure of a provider, because the next one may do. */
  async #ask(
    provider: CredentialProvider,
    image: string,
    signal: AbortSignal,
  ): Promise<Answer | AgentError> {
    const { trust, environment, limitMs = LIMIT_MS, onRun } = this.#options;
    const { name, file } = provider;
    const what = `ask the credential provider ${quoteText(name)}`;
    const distrust = distrustOf(file, trust);
    if (distrust !== undefined) return new AgentError('imageFailed', `cannot ${what}: ${distrust}`);
    await onRun?.({ name, file, image });
    const request = { apiVersion: PROTOCOL, kind: 'CredentialProviderRequest', image };
    const options = { environment, limitMs, signal };
    try {
      const text = await runProvider(provider, JSON.stringify(request), options);
      const answer = parseJson(response, text, [
        `the answer of the credential provider ${quoteText(name)}`,
        `a CredentialProviderResponse of ${PROTOCOL}`,
      ]);
      this.#keep(provider, image, answer);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      return asImageError(error, what);
    }
  }

  #keep({ name, defaultCacheDuration }: CredentialProvider, image: string, answer: Answer): void {
    const keptMs = answer.cacheDuration ?? defaultCacheDuration;
    const key = keyOf(name, answer.cacheKeyType, image);
    this.#kept.delete(key);
    if (keptMs > 0)
      this.#kept.set(key, { answer, untilMs: this.#options.clock.monotonicMs() + keptMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function keyOf(provider: string, type: Answer['cacheKeyType'], image: string): string {
  const of = { Image: image, Registry: image.replace(/\/.*$/s, ''), Global: '' }[type];
  return JSON.stringify([provider, type, of]);
}

/** Others must not be able to change the program: it runs with the agent's rights. */
function distrustOf(file: string, trust: Pick<FileTrust, 'distrustOfFile'>): string | undefined {
  try {
    const distrust = trust.distrustOfFile(file, { followLinks: true });
    return distrust && distrusted('run', file, distrust).message;
  } catch (error) {
    return messageOf(error);
  }
}
