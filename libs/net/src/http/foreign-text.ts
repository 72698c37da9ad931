import { quoteText } from '@wins/base';

const MAX_LENGTH = 256;

/** Makes the text of a server or proxy fit for a message: quoted, cut to 256 characters, and without the secrets that were sent to it. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  return quoteText(withoutSecrets(text, secrets), { maxLength: MAX_LENGTH });
}

/** Minimum length of a masked secret: a shorter one occurs in any text by chance, and masking it would spoil messages. */
const SHORTEST_SECRET = 4;

/** Replaces secrets by `***`, in any letter case, because a URL, for example, has its host in lower case. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let rest = text;
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST_SECRET)) {
    const pattern = secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    rest = rest.replace(new RegExp(pattern, 'gi'), '***');
  }
  return rest;
}

/** Formats an address for a message, without its query, which may contain a signature. */
export function shownUrl({ origin, pathname }: URL): string {
  return quoteText(`${origin}${pathname === '/' ? '' : pathname}`, { maxLength: MAX_LENGTH });
}
