/** Whether a text is an http or https address that is safe to show: it has no white space, user, password, query or fragment. */
export function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !hasUser(url);
}

/** Whether an address has a user or a password, and so must be kept out of logs and messages. Pure. */
export function hasUser({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}

/** Removes user, password, query and fragment from an address; empty for a text that is no address. Pure. */
export function toldAddress(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
