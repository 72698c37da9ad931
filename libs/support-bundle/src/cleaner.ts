/** A text that is shorter says nothing, and would be found everywhere. */
const SHORTEST = 4;
const REMOVED = '[removed]';
/** User and password of an address, and its query. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi;
const QUERY = /([a-z][a-z0-9+.-]*:\/\/[^\s?"'<>]+\?)[^\s"'<>#]+/gi;

/** An address without user, password, query and fragment. */
export function addressWithoutSecrets(address: string): string {
  return address.replace(CREDENTIALS, '$1').replace(/[?#].*$/s, '');
}

/**
 * Takes from a text what must not be told, should it be there in spite of all: these secrets, also as JSON escapes them, and users, passwords and
 * queries of addresses by their form. Members are made without them in the first place.
 *
 * @param known - Of four characters or more; what is shorter is left where it is.
 */
export function cleanerOf(known: readonly string[]): (text: string) => string {
  const secrets = known
    .filter((secret) => secret.length >= SHORTEST)
    // The longest first: one may be a part of another.
    .sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text.replace(CREDENTIALS, `$1${REMOVED}@`).replace(QUERY, `$1${REMOVED}`);
    for (const secret of secrets) {
      clean = clean.replaceAll(secret, REMOVED);
      const escaped = JSON.stringify(secret).slice(1, -1);
      if (escaped !== secret) clean = clean.replaceAll(escaped, REMOVED);
    }
    return clean;
  };
}
