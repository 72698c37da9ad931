import type { WinsConfig } from '@wins/config';

const PROXY_VARIABLES = /^(?:https?|all|no)_proxy$/i;

/** The secrets that this host is known to have: of its config, and of the proxies of this process. */
export function knownSecrets(
  config: WinsConfig | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  return [...secretsOf(config), ...proxySecrets(environment)];
}

function secretsOf(config: WinsConfig | undefined): readonly string[] {
  if (config === undefined) return [];
  const { processEnvironment, csiProxy } = config;
  const query = csiProxy?.url.split('?')[1];
  return [
    ...Object.values(processEnvironment),
    ...(csiProxy?.args ?? []).flatMap((argument) => [argument, valueOf(argument)]),
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
