import { RancherError } from '../rancher-error.js';

const MAX_LENGTH = 4096;

/**
 * Reads an address that is going to be asked: `https:`, or `http:` where that is allowed, without a user.
 *
 * @param what - As the end of "cannot".
 * @throws RancherError `invalidRequest`; the text is not repeated, as it may hold a password.
 */
export function parseAddress(text: string, what: string, allowHttp: boolean): URL {
  const url = text.length <= MAX_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  const refused = (found: string, wanted: string) =>
    new RancherError('invalidRequest', `cannot ${what}: found ${found}; wanted ${wanted}`);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw refused('no address of a server', 'one such as https://rancher.example.com');
  if (url.username !== '' || url.password !== '')
    throw refused('a user or a password in the address', 'an address without');
  if (url.protocol === 'http:' && !allowHttp)
    throw refused(`http:// in the address of ${url.host}`, 'https://, or http to be allowed');
  url.hash = '';
  return url;
}

/** The address of a Rancher server: in addition it has no query, and its path has no slash at its end. */
export function parseServer(text: string, allowHttp: boolean): URL {
  const url = parseAddress(text.trim(), 'ask the Rancher server', allowHttp);
  if (url.search !== '') {
    const message = 'cannot ask the Rancher server: found a query in its address; wanted none';
    throw new RancherError('invalidRequest', message);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** A path of Rancher below the address of its server. */
export function below(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  return url;
}
