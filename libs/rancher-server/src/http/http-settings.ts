import { systemClock, type Clock } from '@wins/time';
import { systemRoots, type Environment } from '@wins/net';

/** How long each part of a request may take, and where it may lead. */
export interface HttpLimits {
  /** For a name, a connection, the proxy and TLS, each. Default: 30 s. */
  readonly connectMs: number;
  /** From the request to the head of its answer. Default: 30 s; `/v3/connect/agent` has 130 s at least. */
  readonly answerMs: number;
  /** Between two parts of a body. Default: 30 s. */
  readonly idleMs: number;
  /** For all of it, with redirects and body. Default: 10 min. */
  readonly totalMs: number;
  /** Default: 5. */
  readonly maxRedirects: number;
}

/** How servers are asked. Everything has a default. */
export interface HttpSettings {
  /** Names proxies by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Default: the environment of the process. */
  readonly environment?: Environment;
  /** Lets addresses begin with `http://`: a token then crosses the network in the clear. Default: false. */
  readonly allowHttp?: boolean;
  /** PEM of the authorities that the system trusts. Default: `systemRoots` of `@wins/net`. */
  readonly systemRoots?: () => readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** For the waits between attempts; limits are measured in real time. */
  readonly clock?: Clock;
  /** From 0 to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Told of what is odd and no reason to stop, such as an attempt that failed and is made again. Never holds a secret. */
  readonly onWarning?: (message: string) => void;
  /** What no message may repeat beside what is given as a token, and the passwords of proxies. A server may know more than it was sent. */
  readonly secrets?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The settings with all defaults. */
export interface CompleteSettings extends Required<Omit<HttpSettings, 'limits' | 'signal'>> {
  readonly limits: HttpLimits;
  readonly signal: AbortSignal | undefined;
}

const LIMITS: HttpLimits = {
  connectMs: 30_000,
  answerMs: 30_000,
  idleMs: 30_000,
  totalMs: 600_000,
  maxRedirects: 5,
};

export function completeSettings(settings: HttpSettings): CompleteSettings {
  const environment = settings.environment ?? process.env;
  return {
    environment,
    allowHttp: settings.allowHttp ?? false,
    systemRoots: settings.systemRoots ?? (() => systemRoots()),
    limits: { ...LIMITS, ...settings.limits },
    clock: settings.clock ?? systemClock,
    random: settings.random ?? Math.random,
    onWarning: settings.onWarning ?? (() => undefined),
    secrets: [...(settings.secrets ?? []), ...proxyPasswords(environment)],
    signal: settings.signal,
  };
}

/** The settings of who shows a token to somebody. */
export function withSecret(
  settings: CompleteSettings,
  secret: string | undefined,
): CompleteSettings {
  return secret === undefined ? settings : { ...settings, secrets: [...settings.secrets, secret] };
}

function proxyPasswords(environment: Environment): readonly string[] {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].flatMap((name) => {
    // What is before the last @, as a password may hold any character that its author has left as it is.
    const address = (environment[name] ?? '').trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
    const [, user = '', password] = /^([^:]*):(.+)@[^@]*$/s.exec(address) ?? [];
    if (password === undefined) return [];
    const shown = Buffer.from(`${decoded(user)}:${decoded(password)}`).toString('base64');
    return [password, decoded(password), encodeURIComponent(decoded(password)), shown];
  });
}

/** What is behind `%` in a part of an address. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
