import { quoteText } from '@wins/base';

const MAX_LENGTH = 256;

/** Quotes at most 256 characters of a server's or proxy's text, with secrets masked. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  return quoteText(withoutSecrets(text, secrets), { maxLength: MAX_LENGTH });
}

/** Shorter secrets are not masked, because any text may contain them by chance. */
const SHORTEST_SECRET = 4;

/** Ignores letter case, because `URL` lowercases hosts, which may contain secrets. */
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

/** Hides user and password before the host of an address, which may lack its scheme. */
export function withoutUser(address: string): string {
  return address.replace(/^([a-z]+:\/\/)?[^]*@/i, '$1***@');
}
