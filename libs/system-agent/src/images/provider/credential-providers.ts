import type { Clock } from '@wins/time';
import { distrusted, type FileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { parseJson } from '../image-failure.js';
import type { Login } from '../registry/credentials.js';
import {
  goDuration,
  matchesImage,
  PROTOCOL,
  readProviders,
  type CredentialProvider,
  type CredentialProviderPlace,
} from './provider-config.js';
import { runProvider } from './run-provider.js';

const response = z.object({
  apiVersion: z.literal(PROTOCOL),
  kind: z.literal('CredentialProviderResponse'),
  cacheKeyType: z.enum(['Image', 'Registry', 'Global']),
  cacheDuration: goDuration.nullish(),
  auth: z.record(z.string(), z.object({ username: z.string(), password: z.string() })).nullish(),
});
type Answer = z.infer<typeof response>;

/** Limit of cached answers; the oldest goes first. */
const MAX_KEPT = 100;
const LIMIT_MS = 60_000;

export interface ProviderRun {
  readonly name: string;
  /** Absolute path of the program. */
  readonly file: string;
  /** `host[:port]/repository`, for which it is asked. */
  readonly image: string;
}

export interface CredentialProvidersOptions {
  readonly place: CredentialProviderPlace;
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  /** Providers get a few variables of it, listed in `run-provider.ts`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** For each call of a program. Default: 1 min, as for the kubelet. */
  readonly limitMs?: number | undefined;
  readonly onRun?: ((run: ProviderRun) => Promise<void>) | undefined;
}

/**
 * The kubelet's credential providers: programs that know changing credentials, such as those of a cloud. Speaks the
 * kubelet's exec protocol; caches answers for the time that they, or the configuration, state.
 */
export class CredentialProviders {
  readonly #options: CredentialProvidersOptions;
  readonly #kept = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
  }

  /**
   * Returns the login of the first matching provider that knows one.
   * @param image - `host[:port]/repository`.
   * @throws AgentError `imageFailed`; the reason of the signal.
   */
  async find(image: string, signal: AbortSignal): Promise<Login | undefined> {
    for (const provider of await readProviders(this.#options.place, this.#options.trust)) {
      if (!provider.matchImages.some((pattern) => matchesImage(pattern, image))) continue;
      const { auth } =
        this.#keptAnswer(provider, image) ?? (await this.#ask(provider, image, signal));
      // The longest match counts, as in the kubelet.
      const names = Object.keys(auth ?? {})
        .sort()
        .reverse();
      const name = names.find((each) => matchesImage(each, image));
      const credentials = name === undefined ? undefined : auth?.[name];
      if (credentials !== undefined)
        return { credentials, from: `the credential provider ${provider.name}` };
    }
    return undefined;
  }

  #keptAnswer({ name }: CredentialProvider, image: string): Answer | undefined {
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const kept = this.#kept.get(keyOf(name, type, image));
      if (kept !== undefined && kept.untilMs > this.#options.clock.now().getTime())
        return kept.answer;
    }
    return undefined;
  }

  async #ask(provider: CredentialProvider, image: string, signal: AbortSignal): Promise<Answer> {
    const { trust, environment, limitMs = LIMIT_MS } = this.#options;
    const { name, file, defaultCacheDuration } = provider;
    judgeProgram(file, trust);
    await this.#options.onRun?.({ name, file, image });
    const request = { apiVersion: PROTOCOL, kind: 'CredentialProviderRequest', image };
    const input = JSON.stringify(request);
    const text = await runProvider(provider, input, { environment, limitMs, signal });
    const answer = parseJson(response, text, [
      `the answer of the credential provider ${name}`,
      `a CredentialProviderResponse of ${PROTOCOL}`,
    ]);
    const keptMs = answer.cacheDuration ?? defaultCacheDuration;
    const key = keyOf(name, answer.cacheKeyType, image);
    this.#kept.delete(key);
    if (keptMs > 0)
      this.#kept.set(key, { answer, untilMs: this.#options.clock.now().getTime() + keptMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return answer;
  }
}

function keyOf(provider: string, type: Answer['cacheKeyType'], image: string): string {
  const of = { Image: image, Registry: image.replace(/\/.*$/s, ''), Global: '' }[type];
  return JSON.stringify([provider, type, of]);
}

/** The program runs with our rights, so others must not be able to change it. */
function judgeProgram(file: string, trust: Pick<FileTrust, 'distrustOfFile'>): void {
  try {
    const distrust = trust.distrustOfFile(file, { followLinks: true });
    if (distrust !== undefined) throw distrusted('run', file, distrust);
  } catch (error) {
    throw new AgentError('imageFailed', messageOf(error), { cause: error });
  }
}
