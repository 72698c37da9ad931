/** Returns the `Authorization` header for the user and password of a URL; undefined when it has neither. */
export function basicAuthorization({
  username,
  password,
}: Pick<URL, 'username' | 'password'>): string | undefined {
  if (username === '' && password === '') return undefined;
  const text = `${decoded(username)}:${decoded(password)}`;
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
