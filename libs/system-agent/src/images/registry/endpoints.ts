import { posix } from 'node:path';
import { type Reference, isRepository } from '../reference.js';
import { imageFailed } from '../image-failure.js';
import { entryOf, namesOfRegistry, type Registries } from './registries-file.js';
import { messageOf, quoteText } from '@wins/base';

export interface Endpoint {
  /** The part of the address before `/<repository>/manifests/…`, without a trailing slash. */
  readonly base: URL;
  readonly repository: string;
  /** The mirrored registry, if this endpoint is a mirror on another host. Otherwise absent. */
  readonly namespace?: string;
  /** Entry of `mirrors`; absent for the registry itself. */
  readonly mirrorOf?: string;
  readonly rewrittenBy?: string;
}

const DOCKER_HUB = 'index.docker.io';

/**
 * Returns the registry's mirrors, or those of `*`, then the registry itself. Rewrites names only for mirrors.
 * @throws AgentError `imageFailed` for an invalid endpoint or rewrite.
 */
export async function endpointsOf({ registry, repository }: Reference, { mirrors }: Registries) {
  const host = registry === 'docker.io' ? DOCKER_HUB : registry;
  const own = { base: baseOf(host), repository };
  const mirror = entryOf(mirrors, namesOfRegistry(registry));
  if (mirror === undefined) return [own];
  const rewritten = await rewrite(repository, mirror.value?.rewrite ?? {});
  const { pattern: rewrittenBy } = rewritten;
  const mirrored = (mirror.value?.endpoint ?? []).map((text): Endpoint => {
    const base = baseOf(text);
    const isOther = base.host !== own.base.host && base.host !== registry;
    return {
      base,
      repository: rewritten.repository,
      mirrorOf: mirror.name,
      ...(isOther && { namespace: registry }),
      ...(rewrittenBy !== undefined && { rewrittenBy }),
    };
  });
  return [...mirrored, own];
}

/** Accepts an address from `registries.yaml` or from an image's name. @throws AgentError `imageFailed`. */
export function baseOf(text: string): URL {
  const url = parseUrl(/^[a-z]+:\/\//i.test(text) ? text : `${schemeOf(text)}://${text}`);
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isPlain)
    // Not quoted, because the text may contain a password.
    throw imageFailed(
      'use a mirror',
      'an unusable address',
      'an address such as https://mirror:5000',
    );
  // As in containerd, a path replaces /v2.
  const path = posix.normalize(url.pathname).replace(/\/+$/, '');
  url.pathname = path === '' ? '/v2' : path;
  return url;
}

/** `http` for this machine: its registry seldom has a certificate, and traffic stays local. */
function schemeOf(registry: string): string {
  const [, host = '', port = '443'] = /^(.*?)(?::(\d+))?(?:\/.*)?$/.exec(registry) ?? [];
  const isHere = /^(localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(host);
  return isHere && port !== '443' ? 'http' : 'https';
}

/** `URL.parse`, which Node 20 lacks. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Applies only the first expression that changes the name. Takes linear time. `$1` and `${name}` insert groups.
 * @throws AgentError `imageFailed` for an invalid expression, or a result that is not a repository name.
 */
export async function rewrite(
  repository: string,
  rewrites: Readonly<Record<string, string | null>>,
): Promise<{ readonly repository: string; readonly pattern?: string }> {
  for (const [pattern, replacement] of Object.entries(rewrites)) {
    const what = `rewrite the name of an image by ${quoteText(pattern)}`;
    const result = replaceAll(repository, await compiled(pattern, what), replacement ?? '');
    if (result === repository) continue;
    if (isRepository(result)) return { repository: result, pattern };
    throw imageFailed(what, quoteText(result), 'the name of a repository');
  }
  return { repository };
}

async function compiled(pattern: string, what: string) {
  const { RE2JS: Go } = await import('re2js');
  try {
    return Go.compile(pattern);
  } catch (error) {
    const found = quoteText(messageOf(error).replace('error parsing regexp: ', ''));
    throw imageFailed(what, found, "a regular expression of Go's", error);
  }
}

type GoRegExp = Awaited<ReturnType<typeof compiled>>;

function replaceAll(text: string, expression: GoRegExp, replacement: string): string {
  const matcher = expression.matcher(text);
  const groupOf = (name: string): string => {
    const index = /^\d+$/.test(name) ? Number(name) : (expression.namedGroups()[name] ?? Infinity);
    return index <= matcher.groupCount() ? (matcher.group(index) ?? '') : '';
  };
  let made = '';
  let end = 0;
  for (let hasFound = false; matcher.find(); hasFound = true) {
    // Go finds no empty match right after another match.
    if (hasFound && matcher.end() === end) continue;
    made += text.slice(end, matcher.start());
    end = matcher.end();
    made += replacement.replace(
      /\$(?:(\w+)|\{(\w+)\}|\$)/g,
      (_all, bare: string | undefined, braced: string | undefined = bare) =>
        braced === undefined ? '$' : groupOf(braced),
    );
  }
  return made + text.slice(end);
}
