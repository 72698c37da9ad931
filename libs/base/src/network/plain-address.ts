/**
 * Whether a text is an http or https address that is safe to show: it has no white space, and no user, password, query or fragment, each of
 * which may be a secret. Messages must not repeat any other address. Pure.
 */
export function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !hasUser(url);
}

/** Whether an address has a user or a password, and so must be kept out of logs and messages. Pure. */
export function hasUser({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}

/**
 * Removes user, password, query and fragment from an address, because each may be a secret; returns an empty text when the text is not an
 * address. Pure.
 */
export function toldAddress(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
