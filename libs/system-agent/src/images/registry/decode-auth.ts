/**
 * Decodes the key `auth` of `registries.yaml` and of Docker's file: base64 of `name:password`. Like Go's decoders, accepts the
 * standard alphabet, with or without padding, and ignores line ends. Undefined for any other text, for an empty name, and for
 * bytes that are not UTF-8: a registry would receive a wrong login, and may lock the account.
 */
export function decodeAuth(
  auth: string,
): { readonly username: string; readonly password: string } | undefined {
  const text = auth.replace(/[\r\n]/g, '');
  const bare = text.replace(/=+$/, '');
  const isPadded = text.length === bare.length || text.length % 4 === 0;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || bare.length % 4 === 1 || !isPadded) return undefined;
  let decoded: string;
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    decoded = utf8.decode(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
  const colon = decoded.indexOf(':');
  if (colon < 1) return undefined;
  // Like containerd, drops NUL bytes around the password.
  const password = decoded.slice(colon + 1).replace(/^\0+|\0+$/g, '');
  return { username: decoded.slice(0, colon), password };
}

/** For messages, which never show the text itself. */
export const AUTH_FORM = { found: 'no base64 of name:password', wanted: 'base64 of name:password' };
