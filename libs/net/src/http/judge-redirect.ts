import { quoteForeign, withoutSecrets } from './foreign-text.js';
import { decoded } from './decoded.js';

/** No token is shorter; a password of a proxy may be, and is then in an address by chance. */
const LONG_SECRET = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Judges where a server sends: undefined to follow, else what would have been followed. */
export type RedirectRule = (to: URL, from: URL) => string | undefined;

/** Leads to any server, but from TLS to TLS. */
export const securely: RedirectRule = (to, from) =>
  to.protocol === 'http:' && from.protocol === 'https:' ? 'https://' : undefined;

/** Leads to the same server alone. */
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
 * Where an answer sends: nowhere (undefined), to an address that is followed, or to one that is refused. An address that is none of HTTP, has a user or
 * holds a secret is refused whatever the rule says.
 */
export function judgeRedirect(
  facts: RedirectFacts,
): { readonly to: URL } | { readonly found: string; readonly wanted: string } | undefined {
  const { from, status, location, count, maxRedirects, rule, secrets } = facts;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  if (count >= maxRedirects)
    return { found: 'one more redirect', wanted: `at most ${maxRedirects}` };
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined || !/^https?:$/.test(to.protocol))
    return { found: 'a redirect to something else', wanted: 'one to an https:// address' };
  // Names are asked for in the clear, and another server would get the rest.
  const long = secrets.filter(({ length }) => length >= LONG_SECRET);
  if ([to.href, decoded(to.href)].some((text) => withoutSecrets(text, long) !== text))
    return { found: 'a redirect to an address with a secret in it', wanted: 'one without' };
  // The rest of an address may be signed.
  const origin = quoteForeign(to.origin, secrets);
  if (to.username !== '' || to.password !== '')
    return { found: `a redirect to ${origin} with a user`, wanted: 'one without' };
  const wanted = rule(to, from);
  if (wanted !== undefined) return { found: `a redirect to ${origin}`, wanted };
  to.hash = '';
  return { to };
}
