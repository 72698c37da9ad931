import { systemClock, type Clock } from '@wins/time';
import { reporter, VERSION, withDefaults, type Complete, type Optional } from '@wins/base';
import type { Environment } from '../proxy/proxy-of.js';
import { systemRoots } from '../trust/system-roots.js';
import { decoded } from './basic-authorization.js';

/** Limits of a request; each may be `Infinity`. */
export interface HttpLimits {
  /** For each of name resolution, connection, proxy and TLS. Default: 30 s. */
  readonly connectMs: number;
  /** From sending the request to the headers of its answer. Default: 30 s. */
  readonly answerMs: number;
  /** Between two parts of a body. Default: 30 s. */
  readonly idleMs: number;
  /** For the whole request, including redirects and body. Default: 10 min. */
  readonly totalMs: number;
  /** Default: 5. */
  readonly maxRedirects: number;
}

/** Settings of an `HttpClient`. All have defaults. */
export interface HttpSettings {
  /** Default: the environment of the process. */
  readonly environment?: Environment | undefined;
  /** Returns CA certificates (PEM) that verify an `https://` proxy. Default: the exported `systemRoots`. */
  readonly systemRoots?: (() => readonly string[]) | undefined;
  /** Times and redirects of one request. See {@link HttpLimits} for the defaults. */
  readonly limits?: Optional<HttpLimits> | undefined;
  /** Attempts of a repeatable request. Default: 3. */
  readonly tries?: number | undefined;
  /** Idle connections to keep open per server; `close` ends them. Default: 0. */
  readonly keptConnections?: number | undefined;
  /** Default: `wins/VERSION`. */
  readonly userAgent?: string | undefined;
  /** Clock for the waits between attempts; limits are measured in real time. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Called for problems that do not end a request. The text never contains a secret. */
  readonly onWarning?: ((message: string) => unknown) | undefined;
  /** More texts to mask in messages: a server may know secrets that this client did not send. */
  readonly secrets?: readonly string[] | undefined;
  /** Aborts all requests, which then fail with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Settings of a client with all defaults filled in. */
export interface CompleteSettings extends Complete<Omit<HttpSettings, 'limits' | 'signal'>> {
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
    limits: withDefaults(LIMITS, settings.limits),
    tries: settings.tries ?? 3,
    keptConnections: settings.keptConnections ?? 0,
    userAgent: settings.userAgent ?? `wins/${VERSION}`,
    clock: settings.clock ?? systemClock,
    random: settings.random ?? Math.random,
    onWarning: reporter(settings.onWarning),
    secrets: [...new Set([...(settings.secrets ?? []), ...proxyPasswords(environment)])],
    signal: settings.signal,
  };
}

function proxyPasswords(environment: Environment): readonly string[] {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].flatMap((name) => {
    // Split at the last @, because a password may contain an unescaped @.
    const address = (environment[name] ?? '').trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
    const [, user = '', password] = /^([^:]*):(.+)@[^@]*$/s.exec(address) ?? [];
    if (password === undefined) return [];
    const shown = Buffer.from(`${decoded(user)}:${decoded(password)}`).toString('base64');
    return [password, decoded(password), encodeURIComponent(decoded(password)), shown];
  });
}
