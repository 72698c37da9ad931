import { quoteForeign, withoutSecrets } from './foreign-text.js';
import { decoded } from './basic-authorization.js';

/**
 * Minimum length, in characters, of the secrets that a redirect's address is searched for. An address may contain a
 * shorter password by chance. Tokens are never shorter.
 */
const LONG_SECRET = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Returns undefined to follow a redirect; otherwise describes the accepted targets, for the message. */
export type RedirectRule = (to: URL, from: URL) => string | undefined;

/** Follows redirects to any server, but not from TLS to plain HTTP. */
export const securely: RedirectRule = (to, from) =>
  to.protocol === 'http:' && from.protocol === 'https:' ? 'https://' : undefined;

export const withinOrigin: RedirectRule = (to, from) =>
  securely(to, from) ??
  (to.origin === from.origin ? undefined : `a redirect within ${from.origin}`);

export interface RedirectFacts {
  readonly from: URL;
  readonly status: number;
  readonly location: string | undefined;
  readonly count: number;
  readonly maxRedirects: number;
  readonly rule: RedirectRule;
  readonly secrets: readonly string[];
}

/**
 * Returns undefined when the answer is no redirect. Regardless of the rule, refuses schemes other than `http` and
 * `https`, and addresses with a user or a secret.
 */
export function judgeRedirect(facts: RedirectFacts) {
  const { from, status, location, count, maxRedirects, rule, secrets } = facts;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  if (count >= maxRedirects)
    return { found: 'one more redirect', wanted: `at most ${maxRedirects}` };
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined || !/^https?:$/.test(to.protocol))
    return { found: 'a redirect without a web address', wanted: 'an https:// address' };
  // A secret would leak: DNS carries host names in plain text, and the new server receives the rest of the address.
  const long = secrets.filter(({ length }) => length >= LONG_SECRET);
  if ([to.href, decoded(to.href)].some((text) => withoutSecrets(text, long) !== text))
    return { found: 'a redirect to an address with a secret in it', wanted: 'one without' };
  // Show only the origin, because the rest of an address may contain a signature.
  const origin = quoteForeign(to.origin, secrets);
  if (to.username !== '' || to.password !== '')
    return { found: `a redirect to ${origin} with a user`, wanted: 'one without' };
  const wanted = rule(to, from);
  if (wanted !== undefined) return { found: `a redirect to ${origin}`, wanted };
  to.hash = '';
  return { to };
}
