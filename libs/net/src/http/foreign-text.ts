import { quoteText } from '@wins/base';

const MAX_LENGTH = 256;

/** Quotes text of a server or proxy in at most 256 characters, without the secrets that were sent to it. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  return quoteText(withoutSecrets(text, secrets), { maxLength: MAX_LENGTH });
}

/** A shorter secret occurs in any text by chance. */
const SHORTEST_SECRET = 4;

/** In any letter case, because a URL, for example, has its host in lower case. */
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
