/**
 * Whether a text is an address with http or https that may be told: without user, password, query and fragment, each of which may be a secret, and
 * without white space. One that is not is not repeated in a message. Pure.
 */
export function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !hasUser(url);
}

/** Whether an address has a user or a password, and so would be a secret in logs and messages. Pure. */
export function hasUser({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}

/** An address without user, password, query and fragment, each of which may be a secret; empty for a text that is none. Pure. */
export function toldAddress(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
