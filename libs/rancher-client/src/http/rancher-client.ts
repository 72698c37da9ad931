import { HttpClient, type HttpSettings } from '@wins/net';
import type { IncomingHttpHeaders } from 'node:http';
import { RancherError } from '../rancher-error.js';

/** How a Rancher server is asked. Everything has a default. */
export interface RancherSettings extends Omit<HttpSettings, 'tries' | 'keptConnections'> {
  /** Lets addresses begin with `http://`: a token then crosses the network in the clear. Default: false. */
  readonly allowHttp?: boolean;
}

const MAX_ADDRESS_LENGTH = 4096;

/**
 * A client with one connection for each request, so that a token goes over none that something else was sent over; what may be asked again is, by
 * `retry`, as a whole.
 *
 * @param secret - Is repeated in no message.
 */
export function rancherClient(settings: RancherSettings, secret?: string): HttpClient {
  const secrets = [...(settings.secrets ?? []), ...(secret === undefined ? [] : [secret])];
  return new HttpClient({ ...settings, secrets, tries: 1 });
}

/**
 * Reads an address that is going to be asked: `https:`, or `http:` where that is allowed, without a user.
 *
 * @param what - As the end of "cannot".
 * @throws RancherError `invalidRequest`; the text is not repeated, as it may hold a password.
 */
export function parseAddress(text: string, what: string, allowHttp = false): URL {
  const url = text.length <= MAX_ADDRESS_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
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

/** A path of Rancher below the address of its server. */
export function below(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  return url;
}

/** Whether an answer is a page for people. Rancher sends its dashboard, with status 200, for what it does not have. */
export function isHtml(headers: IncomingHttpHeaders, first: Uint8Array): boolean {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? ''))
    return true;
  const text = Buffer.from(first.subarray(0, 512)).toString('latin1').replace(/^ï»¿/, '');
  return /^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i.test(text);
}
