import { proxyOf } from '@wins/net';
import { messageOf } from '@wins/wins-program';
import { inArchive } from './image-store.js';
import { parseReference } from './reference.js';
import { baseOf, endpointsOf, type Endpoint } from './registry/endpoints.js';
import { RegistryAccess } from './registry/registry-access.js';
import type { Registries } from './registry/registries-file.js';
import { fetchImage } from './registry/registry-image.js';
import { RegistrySession } from './registry/registry-session.js';
import { storeParts, type ImageStoreOptions } from './store-options.js';

/** One place that is asked, and what came of it. No text is a secret; what servers said is quoted. */
export interface AskedRegistry {
  /** What comes before the name of the repository. */
  readonly url: string;
  /** Empty where no image is asked for. */
  readonly repository: string;
  /** The entry of `mirrors` in `registries.yaml`; empty for the registry itself. */
  readonly mirrorOf: string;
  /** The expression that has made the name of the repository; empty where none has. */
  readonly rewrittenBy: string;
  /** `host:port` of the proxy; empty for none. */
  readonly proxy: string;
  /** Whose certificates are believed. */
  readonly trust: string;
  /** Where the credentials for it are from; empty for none. */
  readonly login: string;
  /** Whether the registry, or its server of tokens, wanted them. */
  readonly isLoginShown: boolean;
  /** `notAsked`: an earlier place has the image. */
  readonly result: 'ok' | 'failed' | 'notAsked';
  /** Why it failed; else empty. */
  readonly failure: string;
}

/** Where an image would come from. */
export interface ImageCheck {
  readonly image: string;
  /** An archive of the node has it: no registry would be asked. */
  readonly isInArchive: boolean;
  /** The `registries.yaml` that counts; empty where there is none. */
  readonly registriesFile: string;
  /** In the order in which they are asked. */
  readonly registries: readonly AskedRegistry[];
  /** A line each. */
  readonly warnings: readonly string[];
}

/** The registries that `registries.yaml` names. */
export type RegistriesCheck = Pick<ImageCheck, 'registriesFile' | 'registries' | 'warnings'>;

/** What of a store a check needs: it tells warnings itself. */
export type CheckOptions = Omit<ImageStoreOptions, 'onWarning'>;

/**
 * Asks for the documents of an image as {@link imageStore} would, and unpacks nothing.
 *
 * @throws AgentError `imageFailed` for a text that is no reference, and a `registries.yaml` that cannot be used; the reason of the signal.
 */
export async function checkImage(
  image: string,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<ImageCheck> {
  const reference = parseReference(image);
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const wanted = { ...storeParts({ ...options, onWarning }), reference };
  using access = await RegistryAccess.open(wanted, signal);
  const registries: AskedRegistry[] = [];
  const isLocal = await inArchive(wanted, signal, () => Promise.resolve());
  let isFound = isLocal;
  for (const endpoint of endpointsOf(reference, access.found.registries)) {
    const asked = await describe(endpoint, access, options, async (session) => {
      if (isFound) return false;
      await fetchImage(session, access, wanted);
      return true;
    });
    signal.throwIfAborted();
    isFound ||= asked.result === 'ok';
    registries.push(asked);
  }
  const registriesFile = access.found.file ?? '';
  return { image, isInArchive: isLocal, registriesFile, registries, warnings };
}

/**
 * Asks each endpoint of a mirror and each other host of `configs` whether it answers and takes its login.
 *
 * @throws AgentError `imageFailed` for a `registries.yaml` that cannot be used; the reason of the signal.
 */
export async function checkRegistries(
  options: CheckOptions,
  signal: AbortSignal,
): Promise<RegistriesCheck> {
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  using access = await RegistryAccess.open(storeParts({ ...options, onWarning }), signal);
  const registries: AskedRegistry[] = [];
  for (const endpoint of namedEndpoints(access.found.registries)) {
    const asked = await describe(endpoint, access, options, async (session) => {
      await session.ping();
      return true;
    });
    signal.throwIfAborted();
    registries.push(asked);
  }
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
    if (name !== '*' && !isKnown(baseOf(name).host)) add(name);
  return endpoints.values();
}

/** @param ask - Resolves with false where it asked nothing. */
async function describe(
  endpoint: Endpoint,
  access: RegistryAccess,
  { environment }: CheckOptions,
  ask: (session: RegistrySession) => Promise<boolean>,
): Promise<AskedRegistry> {
  const { base, repository, mirrorOf = '', rewrittenBy = '' } = endpoint;
  const session = new RegistrySession(endpoint, access);
  const result: Pick<AskedRegistry, 'result' | 'failure'> = await ask(session).then(
    (isAsked) => ({ result: isAsked ? 'ok' : 'notAsked', failure: '' }),
    (error: unknown) => ({ result: 'failed', failure: messageOf(error) }),
  );
  const login = async () => (await access.findLogin(endpoint))?.from ?? '';
  return {
    ...{ url: base.href, repository, mirrorOf, rewrittenBy },
    // The rest of its address may be a password.
    proxy: await orFailure(() => new URL(proxyOf(base, environment) ?? 'none:').host),
    trust: access.describeTrust(base),
    login: session.shown ?? (await orFailure(login)),
    isLoginShown: session.shown !== undefined,
    ...result,
  };
}

async function orFailure(find: () => string | Promise<string>): Promise<string> {
  try {
    return await find();
  } catch (error) {
    return messageOf(error);
  }
}
