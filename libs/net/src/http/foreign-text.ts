import { quoteText } from '@wins/base';

const MAX_LENGTH = 256;

/** Text of a server or a proxy, fit for a message: quoted, cut at 256 characters, and without the secrets that it was sent. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  return quoteText(withoutSecrets(text, secrets), { maxLength: MAX_LENGTH });
}

/** Shortest secret that is masked: a shorter one occurs in any text by chance, and masking it would spoil messages. */
const SHORTEST_SECRET = 4;

/** Replaces secrets by `***`, in capital or small letters: the host of a URL, for one, has small letters. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let rest = text;
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST_SECRET)) {
    const pattern = secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    rest = rest.replace(new RegExp(pattern, 'gi'), '***');
  }
  return rest;
}

/** An address for a message: what is behind the path may be signed. */
export function shownUrl({ origin, pathname }: URL): string {
  return quoteText(`${origin}${pathname === '/' ? '' : pathname}`, { maxLength: MAX_LENGTH });
}
