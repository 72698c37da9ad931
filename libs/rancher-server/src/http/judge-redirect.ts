import { quoteForeign, withoutSecrets } from './foreign-text.js';
import { decoded } from './http-settings.js';

/** No token is shorter; a password of a proxy may be, and is then in an address by chance. */
const LONG_SECRET = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface RedirectFacts {
  readonly from: URL;
  readonly status: number;
  /** The header of the answer. */
  readonly location: string | undefined;
  /** How many were followed before. */
  readonly count: number;
  readonly maxRedirects: number;
  /** Whether the request must not leave the server that it was for: it has a token, or nobody knows who answers. */
  readonly isBound: boolean;
  readonly secrets: readonly string[];
}

/** Where an answer sends: nowhere (undefined), to an address that is followed, or to one that is refused. */
export function judgeRedirect(
  facts: RedirectFacts,
): { readonly to: URL } | { readonly found: string; readonly wanted: string } | undefined {
  const { from, status, location, count, maxRedirects, isBound, secrets } = facts;
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
  if (to.protocol === 'http:' && from.protocol === 'https:')
    return { found: `a redirect to ${origin}`, wanted: 'https://' };
  if (isBound && to.origin !== from.origin)
    return { found: `a redirect to ${origin}`, wanted: `one that stays at ${from.origin}` };
  to.hash = '';
  return { to };
}
