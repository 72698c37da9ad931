import { quoteText } from '@wins/base';

const MAX_LENGTH = 256;

/** Quotes at most 256 characters of text from a server or proxy, and masks the secrets in it. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  return quoteText(withoutSecrets(text, secrets), { maxLength: MAX_LENGTH });
}

/** Shorter secrets are not masked, because they occur in any text by chance. */
const SHORTEST_SECRET = 4;

/** Masks the secrets in any letter case, because a URL, for example, has its host in lower case. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let rest = text;
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST_SECRET)) {
    const pattern = secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    rest = rest.replace(new RegExp(pattern, 'gi'), '***');
  }
  return rest;
}

/** Omits the query, which may contain a signature. */
export function shownUrl({ origin, pathname }: URL): string {
  return quoteText(`${origin}${pathname === '/' ? '' : pathname}`, { maxLength: MAX_LENGTH });
}
