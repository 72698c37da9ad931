import { messageOf, quoteText } from '@wins/base';
import { unlessAborted } from '../agent-error.js';
import { inArchive } from './image-store.js';
import { parseReference } from './reference.js';
import { baseOf, endpointsOf, type Endpoint } from './registry/endpoints.js';
import { RegistryAccess } from './registry/registry-access.js';
import type { Registries } from './registry/registries-file.js';
import { fetchImage } from './registry/registry-image.js';
import { RegistrySession } from './registry/registry-session.js';
import { isServerName, unusedKeys } from './registry/unused-keys.js';
import { storeParts, type ImageStoreOptions } from './store-options.js';

/** The signal of a check without one. */
const NEVER = new AbortController().signal;

/** Contains no secret, although it quotes servers' messages. */
export interface AskedRegistry {
  readonly url: string;
  readonly repository: string;
  /** Name of the entry in `mirrors` of `registries.yaml`; empty for the image's own registry. */
  readonly mirrorOf: string;
  /** Expression that rewrote the repository's name, or empty. */
  readonly rewrittenBy: string;
  readonly proxy: string;
  /** Describes trusted authorities and the client certificate. */
  readonly trust: string;
  readonly login: string;
  /** True if the registry requested credentials, and the agent presented this login to the registry or its token server. */
  readonly isLoginShown: boolean;
  /** `notAsked`: an earlier registry has the image. */
  readonly result: 'ok' | 'failed' | 'notAsked';
  /** Message of the error; empty unless `result` is `failed`. */
  readonly failure: string;
}

/** Result of {@link checkImage}: where the image was found, or each registry's failure. */
export interface ImageCheck {
  readonly image: string;
  /** True when an archive of the node has the image. No registry is then queried. */
  readonly isInArchive: boolean;
  /** Path of the `registries.yaml` in use, or empty. */
  readonly registriesFile: string;
  readonly registries: readonly AskedRegistry[];
  readonly warnings: readonly string[];
}

/** Result of {@link checkRegistries}, which asks for no image. */
export type RegistriesCheck = Pick<ImageCheck, 'registriesFile' | 'registries' | 'warnings'>;

/** Options of {@link checkImage} and {@link checkRegistries}. Warnings are part of the result. */
export interface CheckOptions extends Omit<ImageStoreOptions, 'onWarning'> {
  /** Ends the check, which then rejects with `aborted`. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches the documents of an image as {@link imageStore} would, without unpacking it.
 * @throws AgentError `imageFailed` when the reference or `registries.yaml` is invalid; `aborted`.
 */
export function checkImage(
  image: string,
  { signal = NEVER, ...options }: CheckOptions,
): Promise<ImageCheck> {
  return unlessAborted(signal, `check ${quoteText(image)}`, () => check(image, options, signal));
}

async function check(
  image: string,
  options: Omit<CheckOptions, 'signal'>,
  signal: AbortSignal,
): Promise<ImageCheck> {
  const reference = parseReference(image);
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const wanted = { ...storeParts({ ...options, onWarning }), reference };
  using access = await RegistryAccess.open(wanted, signal);
  warnings.push(...unusedKeys(access.found));
  const isLocal = await inArchive(wanted, signal, () => Promise.resolve());
  let isFound = isLocal;
  const endpoints = await endpointsOf(reference, access.found.registries);
  const registries = await askEach(endpoints, access, signal, async (session) => {
    if (isFound) return 'notAsked';
    await fetchImage(session, access, wanted);
    isFound = true;
    return 'ok';
  });
  const registriesFile = access.found.file ?? '';
  return { image, isInArchive: isLocal, registriesFile, registries, warnings };
}

/**
 * Checks that every mirror endpoint, and every remaining host in `configs`, answers and accepts its login.
 * @throws AgentError `imageFailed` for an invalid `registries.yaml`; `aborted`.
 */
export function checkRegistries({
  signal = NEVER,
  ...options
}: CheckOptions): Promise<RegistriesCheck> {
  return unlessAborted(signal, 'check the registries', () => checkNamed(options, signal));
}

async function checkNamed(
  options: Omit<CheckOptions, 'signal'>,
  signal: AbortSignal,
): Promise<RegistriesCheck> {
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  using access = await RegistryAccess.open(storeParts({ ...options, onWarning }), signal);
  warnings.push(...unusedKeys(access.found));
  const endpoints = namedEndpoints(access.found.registries);
  const registries = await askEach(endpoints, access, signal, async (session) => {
    await session.ping();
    return 'ok';
  });
  return { registriesFile: access.found.file ?? '', registries, warnings };
}

function namedEndpoints({ mirrors, configs }: Registries): Iterable<Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  const add = (text: string, mirror: Pick<Endpoint, 'mirrorOf'> = {}): void => {
    const base = baseOf(text);
    if (!endpoints.has(base.href)) endpoints.set(base.href, { base, repository: '', ...mirror });
  };
  for (const [mirrorOf, mirror] of Object.entries(mirrors ?? {}))
    for (const text of mirror?.endpoint ?? []) add(text, { mirrorOf });
  const isKnown = (host: string): boolean =>
    [...endpoints.values()].some(({ base }) => base.host === host);
  for (const name of Object.keys(configs ?? {}))
    if (name !== '*' && isServerName(name) && !isKnown(baseOf(name).host)) add(name);
  return endpoints.values();
}

async function askEach(
  endpoints: Iterable<Endpoint>,
  access: RegistryAccess,
  signal: AbortSignal,
  ask: (session: RegistrySession) => Promise<AskedRegistry['result']>,
): Promise<readonly AskedRegistry[]> {
  const all: AskedRegistry[] = [];
  for (const endpoint of endpoints) {
    const { base, repository, mirrorOf = '', rewrittenBy = '' } = endpoint;
    const session = new RegistrySession(endpoint, access);
    const asked: Pick<AskedRegistry, 'result' | 'failure'> = await ask(session).then(
      (result) => ({ result, failure: '' }),
      (error: unknown) => ({ result: 'failed', failure: messageOf(error) }),
    );
    all.push({
      url: base.href,
      repository,
      mirrorOf,
      rewrittenBy,
      proxy: await orFailure(() => access.proxyHost(base)),
      trust: access.describeTrust(base),
      login: await orFailure(() => session.findLogin()),
      isLoginShown: session.shown !== undefined,
      ...asked,
    });
    signal.throwIfAborted();
  }
  return all;
}

async function orFailure(find: () => string | Promise<string>): Promise<string> {
  try {
    return await find();
  } catch (error) {
    return messageOf(error);
  }
}
