import { quoteText } from '@wins/base';
import { imageFailed } from './image-failure.js';

/** Parts of an image's name, with Docker's defaults. */
export interface Reference {
  /** `docker.io` if the text names no registry, and in place of `index.docker.io`. */
  readonly registry: string;
  /** Includes the `library/` of Docker Hub. */
  readonly repository: string;
  /** `latest` if the text has none. Ignored when there is a digest. */
  readonly tag: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest?: string | undefined;
}

const MAX_LENGTH = 512;
const REGISTRY = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;
const STEP = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Parses the name of an image of at most 512 characters. The parts that the text omits get Docker's defaults.
 * @throws AgentError `imageFailed` for a text that is not a reference by Docker's grammar.
 */
export function parseReference(text: string): Reference {
  const reference = text.length > MAX_LENGTH ? undefined : read(text);
  if (reference !== undefined) return reference;
  const wanted = 'a reference such as docker.io/rancher/image:v1';
  throw imageFailed('find an image', quoteText(text), wanted);
}

/** Whether an image's name can begin with this text and a slash. */
export function isRegistry(text: string): boolean {
  return REGISTRY.test(text);
}

export function isRepository(text: string): boolean {
  return text.split('/').every((step) => STEP.test(step));
}

export function referenceKey({ registry, repository, tag }: Reference): string {
  return `${registry}/${repository}:${tag}`;
}

function read(text: string): Reference | undefined {
  const [name = '', digest, ...more] = text.split('@');
  const { registry, rest } = splitRegistry(name);
  const colon = rest.lastIndexOf(':');
  const tag = colon < 0 ? 'latest' : rest.slice(colon + 1);
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const repository = registry === 'docker.io' && !path.includes('/') ? `library/${path}` : path;
  const valid =
    more.length === 0 &&
    isRegistry(registry) &&
    isRepository(repository) &&
    TAG.test(tag) &&
    (digest === undefined || DIGEST.test(digest));
  if (!valid) return undefined;
  return { registry, repository, tag, ...(digest === undefined ? {} : { digest }) };
}

/** The first part is a registry if it is `localhost`, or contains `.`, `:` or a capital letter. */
function splitRegistry(name: string): { registry: string; rest: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  if (first !== 'localhost' && !/[.:A-Z]/.test(first)) return { registry: 'docker.io', rest: name };
  const registry = first.toLowerCase();
  const rest = name.slice(slash + 1);
  return { registry: registry === 'index.docker.io' ? 'docker.io' : registry, rest };
}
