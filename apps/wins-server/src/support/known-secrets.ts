import type { WinsConfig } from '@wins/config';

/** A text that is shorter says nothing, and would be found everywhere. */
const SHORTEST = 4;
const REMOVED = '[removed]';
const PROXY_VARIABLES = /^(?:https?|all|no)_proxy$/i;
/** User and password of an address, and its query. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi;
const QUERY = /([a-z][a-z0-9+.-]*:\/\/[^\s?"'<>]+\?)[^\s"'<>#]+/gi;

/** An address without user, password, query and fragment. */
export function addressWithoutSecrets(address: string): string {
  return address.replace(CREDENTIALS, '$1').replace(/[?#].*$/s, '');
}

/**
 * Takes from a text what must not be told, should it be there in spite of all: the secrets of the config and of the proxies by their
 * values, and users, passwords and queries of addresses by their form. The members of a bundle are made without them in the first place.
 */
export function cleanerOf(
  config: WinsConfig | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): (text: string) => string {
  const secrets = [...secretsOf(config), ...proxySecrets(environment)]
    .filter((secret) => secret.length >= SHORTEST)
    // The longest first: one may be a part of another.
    .sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text.replace(CREDENTIALS, `$1${REMOVED}@`).replace(QUERY, `$1${REMOVED}`);
    for (const secret of secrets) {
      clean = clean.replaceAll(secret, REMOVED);
      const escaped = JSON.stringify(secret).slice(1, -1);
      if (escaped !== secret) clean = clean.replaceAll(escaped, REMOVED);
    }
    return clean;
  };
}

function secretsOf(config: WinsConfig | undefined): readonly string[] {
  if (config === undefined) return [];
  const { processEnvironment, csiProxy } = config;
  const query = csiProxy?.url.split('?')[1];
  return [
    ...Object.values(processEnvironment),
    ...(csiProxy?.args ?? []),
    ...(query === undefined ? [] : [query, ...query.split('&').map(valueOf)]),
  ];
}

function valueOf(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1);
}

/** What proxies are reached with. */
function proxySecrets(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment)
    .filter(([name]) => PROXY_VARIABLES.test(name))
    .flatMap(([, value = '']) => {
      const user = /^[a-z][a-z0-9+.-]*:\/\/([^/@]+)@/i.exec(value)?.[1];
      if (user === undefined) return [];
      const [, password = ''] = user.split(/:(.*)/s);
      return [user, password];
    });
}
