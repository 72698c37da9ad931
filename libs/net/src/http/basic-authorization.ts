import { decoded } from './decoded.js';

/**
 * Returns the value of `Authorization` or `Proxy-Authorization` for the user and the password in an address; undefined when there are none.
 */
export function basicAuthorization({
  username,
  password,
}: Pick<URL, 'username' | 'password'>): string | undefined {
  if (username === '' && password === '') return undefined;
  const text = `${decoded(username)}:${decoded(password)}`;
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}
