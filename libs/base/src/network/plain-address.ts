/** Whether a URL has a user or password, and so must not appear in logs and messages. */
export function hasUser({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}

/** Removes user, password, query and fragment from a URL. Returns `''` for other text. */
export function toldAddress(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
