import { systemClock, type Clock } from '@wins/time';
import { VERSION } from '@wins/base';
import type { Environment } from '../proxy/proxy-of.js';
import { systemRoots } from '../trust/system-roots.js';
import { decoded } from './decoded.js';

/** How long each part of a request may take, and where it may lead. A time that is `Infinity` is no limit. */
export interface HttpLimits {
  /** For a name, a connection, the proxy and TLS, each. Default: 30 s. */
  readonly connectMs: number;
  /** From the request to the head of its answer. Default: 30 s. */
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
  /** PEM of the authorities that the system trusts: a proxy that is itself asked by TLS is known by them. Default: `systemRoots`. */
  readonly systemRoots?: () => readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** How often a request is sent that a server may get twice, while what fails may pass. Default: 3. */
  readonly tries?: number;
  /** Keeps so many connections to a server open for the next request; `close` ends them. Default: 0. */
  readonly keptConnections?: number;
  /** Default: `wins/VERSION`. */
  readonly userAgent?: string;
  /** For the waits between tries; limits are measured in real time. */
  readonly clock?: Clock;
  /** From 0 to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called for oddities that are no reason to stop, such as a failed try that is repeated. Its text never holds a secret. */
  readonly onWarning?: (message: string) => void;
  /** Texts that no message may repeat, beside those of a request and the passwords of proxies. A server may know more than it was sent. */
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
    systemRoots: settings.systemRoots ?? (() => systemRoots()),
    limits: { ...LIMITS, ...settings.limits },
    tries: settings.tries ?? 3,
    keptConnections: settings.keptConnections ?? 0,
    userAgent: settings.userAgent ?? `wins/${VERSION}`,
    clock: settings.clock ?? systemClock,
    random: settings.random ?? Math.random,
    onWarning: settings.onWarning ?? (() => undefined),
    secrets: [...new Set([...(settings.secrets ?? []), ...proxyPasswords(environment)])],
    signal: settings.signal,
  };
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
