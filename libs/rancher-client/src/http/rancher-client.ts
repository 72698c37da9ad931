import { HttpClient, type HttpSettings } from '@wins/net';
import type { IncomingHttpHeaders } from 'node:http';
import { RancherError } from '../rancher-error.js';

/** HTTP settings for connections to Rancher. The number of attempts is fixed. */
export interface RancherSettings extends Omit<HttpSettings, 'tries' | 'keptConnections'> {
  /** Allows `http://` addresses, over which a token crosses the network unencrypted. Default: false. */
  readonly allowHttp?: boolean | undefined;
}

const MAX_ADDRESS_LENGTH = 4096;

/** Opens one connection per request, so that no connection is reused after it carried a token. Messages never contain `secret`. */
export function rancherClient(settings: RancherSettings, secret?: string): HttpClient {
  const secrets = [...(settings.secrets ?? []), ...(secret === undefined ? [] : [secret])];
  return new HttpClient({ ...settings, secrets, tries: 1 });
}

/** @throws RancherError `invalidRequest`; the message omits the text, because it may contain a password. */
export function parseAddress(text: string, what: string, allowHttp = false): URL {
  const url = text.length <= MAX_ADDRESS_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  const refused = (found: string, wanted: string) =>
    new RancherError('invalidRequest', `cannot ${what}: found ${found}; wanted ${wanted}`);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw refused('no address of a server', 'one such as https://rancher.example.com');
  if (url.username !== '' || url.password !== '')
    throw refused('a user or a password in the address', 'an address without them');
  if (url.protocol === 'http:' && !allowHttp)
    throw refused(`http:// in the address of ${url.host}`, 'https://, unless http:// is allowed');
  url.hash = '';
  return url;
}

export function below(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  return url;
}

/** For unknown paths Rancher sends its dashboard, an HTML page, with status 200. */
export function isHtml(headers: IncomingHttpHeaders, first: Uint8Array): boolean {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? ''))
    return true;
  const text = Buffer.from(first.subarray(0, 512))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
  return /^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i.test(text);
}
