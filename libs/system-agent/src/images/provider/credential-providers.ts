import type { Clock } from '@wins/time';
import { distrusted, type FileTrust } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/base';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { parseJson, imageFailed } from '../image-failure.js';
import type { Login } from '../registry/credentials.js';
import {
  goDuration,
  matchesImage,
  PROTOCOL,
  readProviders,
  type CredentialProvider,
  type CredentialProviderPaths,
} from './provider-config.js';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

const response = z.object({
  apiVersion: z.literal(PROTOCOL),
  kind: z.literal('CredentialProviderResponse'),
  cacheKeyType: z.enum(['Image', 'Registry', 'Global']),
  cacheDuration: goDuration.nullish(),
  auth: z.record(z.string(), z.object({ username: z.string(), password: z.string() })).nullish(),
});
type Answer = z.infer<typeof response>;

/** Beyond this, the oldest cached answer is removed. */
const MAX_KEPT = 100;
const LIMIT_MS = 60_000;

export interface ProviderRun {
  readonly name: string;
  readonly file: string;
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
  readonly #kept = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
  }

  /** `image`: `host[:port]/repository`. @throws AgentError `imageFailed`; the reason of the signal. */
  async find(image: string, signal: AbortSignal): Promise<Login | undefined> {
    for (const provider of await readProviders(this.#options.paths, this.#options.trust)) {
      if (!provider.matchImages.some((pattern) => matchesImage(pattern, image))) continue;
      const { auth } =
        this.#keptAnswer(provider, image) ?? (await this.#ask(provider, image, signal));
      // As in the kubelet, reverse order tries more specific names first.
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

/** Others must not be able to change the program: it runs with the agent's rights. */
function judgeProgram(file: string, trust: Pick<FileTrust, 'distrustOfFile'>): void {
  try {
    const distrust = trust.distrustOfFile(file, { followLinks: true });
    if (distrust !== undefined) throw distrusted('run', file, distrust);
  } catch (error) {
    throw new AgentError('imageFailed', messageOf(error), { cause: error });
  }
}

const MAX_BYTES = 1024 * 1024;
const TOLD_BYTES = 256;
/** Inherited variables, for proxies, certificate authorities and Windows programs. */
const PASSED_ON = [
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
  ...['HOME', 'PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR'],
  ...['SystemRoot', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERPROFILE', 'ProgramData', 'ProgramFiles'],
];

export interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Uses no shell. Accepts at most 1 MiB of output. @throws AgentError `imageFailed`; the signal's reason. */
export async function runProvider(
  { name, file, args, env }: CredentialProvider,
  input: string,
  { environment, limitMs, signal }: RunOptions,
): Promise<string> {
  signal.throwIfAborted();
  const passed = PASSED_ON.flatMap((each) => {
    const value = environment[each];
    return value === undefined ? [] : [[each, value] as const];
  });
  const own = (env ?? []).map((each) => [each.name, each.value] as const);
  // `detached` makes a process group, so that the program's children end with it.
  const child = spawn(file, args ?? [], {
    ...{ env: Object.fromEntries([...passed, ...own]), stdio: 'pipe', windowsHide: true },
    detached: process.platform !== 'win32',
  });
  const failed = (found: string, cause?: unknown): Error =>
    imageFailed(`ask the credential provider ${quoteText(name)}`, found, 'its answer', cause);
  return await new Promise<string>((resolve, reject) => {
    const written: Buffer[] = [];
    let writtenBytes = 0;
    let said = '';
    const end = (reason: unknown): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      endTree(child);
      reject(reason instanceof Error ? reason : new Error(messageOf(reason)));
    };
    const onAbort = (): void => end(signal.reason);
    const timer = setTimeout(() => end(failed(`no answer within ${limitMs} ms`)), limitMs);
    signal.addEventListener('abort', onAbort);
    child.stdout.on('data', (part: Buffer) => {
      written.push(part);
      writtenBytes += part.length;
      if (writtenBytes > MAX_BYTES) end(failed(`more than ${MAX_BYTES} bytes`));
    });
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString('utf8')).slice(-TOLD_BYTES);
    });
    child.on('error', (error) => end(failed(quoteText(messageOf(error)), error)));
    // Ignore write errors: a program need not read its input.
    child.stdin.on('error', () => undefined);
    child.on('close', (code) => {
      if (code !== 0) {
        const words = said.trim() === '' ? '' : ` with ${quoteText(said.trim())}`;
        end(failed(`the exit code ${code ?? 'of a signal'}${words}`));
        return;
      }
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(Buffer.concat(written).toString('utf8'));
    });
    child.stdin.end(input);
  });
}

function endTree(child: ChildProcessWithoutNullStreams): void {
  for (const stream of child.stdio) stream?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === 'win32') child.kill();
  else {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The program has ended in the meantime.
    }
  }
}
