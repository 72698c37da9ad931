import { quoteText } from '@wins/wins-program';
import type { Reference } from '../reference.js';
import { imageFailed } from '../image-failure.js';
import { parseUrl } from './parse-url.js';
import type { Registries } from './registries-file.js';

/** One place where an image may be. */
export interface Endpoint {
  /** What comes before `/<repository>/manifests/…`; no slash at its end. */
  readonly base: URL;
  readonly repository: string;
}

const DOCKER_HUB = 'index.docker.io';

/**
 * Where an image is asked for, in this order: the mirrors of its registry, or of `*` where it has none of its own, then the registry
 * itself. Names are rewritten for mirrors alone.
 *
 * Rewrites are regular expressions of JavaScript, and trusted as the file is: one that takes forever holds up the process.
 *
 * @throws AgentError `imageFailed` for an endpoint or a rewrite that cannot be used.
 */
export function endpointsOf(
  { registry, repository }: Reference,
  { mirrors }: Registries,
): Endpoint[] {
  const names = registry === 'docker.io' ? [registry, DOCKER_HUB] : [registry];
  const mirror = [...names, '*'].map((name) => mirrors?.[name]).find((some) => some != null);
  const rewritten = rewrite(repository, mirror?.rewrite ?? {});
  return [
    ...(mirror?.endpoint ?? []).map((text) => ({ base: baseOf(text), repository: rewritten })),
    { base: baseOf(registry === 'docker.io' ? DOCKER_HUB : registry), repository },
  ];
}

function baseOf(text: string): URL {
  const url = parseUrl(/^[a-z]+:\/\//i.test(text) ? text : `${schemeOf(text)}://${text}`);
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isPlain)
    // Not quoted: it may have a password in it.
    throw imageFailed('use a mirror', 'another form', 'an address such as https://mirror:5000');
  // As containerd has it: a path takes the place of /v2.
  url.pathname = url.pathname === '/' ? '/v2' : url.pathname.replace(/\/+$/, '');
  return url;
}

/** A registry on this machine is seldom given a certificate, and what goes to it leaves nowhere. */
function schemeOf(registry: string): string {
  const host = registry.replace(/:\d+$/, '');
  return /^(localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(host) ? 'http' : 'https';
}

/** The first expression that matches counts; `$1` and `${1}` stand for groups, as in Go. */
function rewrite(repository: string, rewrites: Readonly<Record<string, string>>): string {
  for (const [pattern, replacement] of Object.entries(rewrites)) {
    const expression = compile(pattern);
    if (!expression.test(repository)) continue;
    return repository.replace(new RegExp(expression, 'g'), (...found: unknown[]) => {
      const groups = (typeof found.at(-1) === 'object' ? found.at(-1) : {}) as Record<
        string,
        unknown
      >;
      return replacement.replace(
        /\$(?:(\w+)|\{(\w+)\}|\$)/g,
        (all, bare?: string, braced?: string) => {
          const name = bare ?? braced;
          if (name === undefined) return all.slice(1);
          const value = /^\d+$/.test(name) ? found[Number(name)] : groups[name];
          return typeof value === 'string' ? value : '';
        },
      );
    });
  }
  return repository;
}

function compile(pattern: string): RegExp {
  try {
    // Go's way to name a group.
    return new RegExp(pattern.replaceAll('(?P<', '(?<'));
  } catch (error) {
    throw imageFailed(
      'rewrite the name of an image',
      quoteText(pattern),
      'a regular expression',
      error,
    );
  }
}
