import { overlap, parseNetwork, type IpNetwork } from '@wins/base';
import { NetError } from '../net-error.js';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Chooses the proxy from `HTTPS_PROXY` or `HTTP_PROXY` (upper or lower case) by Go's rules. Keeps the proxy's user and password.
 * Returns undefined for this machine and for servers in `NO_PROXY`: addresses, networks, names or domains, optionally with a port.
 * @throws NetError `invalidRequest` if the proxy is not an `http://` or `https://` address. An address without a scheme counts as `http://`.
 */
export function proxyOf(server: URL, environment: Environment): string | undefined {
  const name = PROXY_VARIABLES.get(server.protocol);
  if (name === undefined) return undefined;
  const variable = [name, name.toLowerCase()].find((each) => environment[each]);
  const proxy = (variable && environment[variable]?.trim()) ?? '';
  if (variable === undefined || proxy === '') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const address = parseNetwork(host);
  const exceptions = environment['NO_PROXY'] || environment['no_proxy'] || '';
  const isException =
    host === 'localhost' ||
    isLoopback(address) ||
    exceptions.split(',').some((entry) => covers(entry.trim().toLowerCase(), host, port, address));
  if (isException) return undefined;

  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  // The value may contain a password, so the message omits it.
  const message = `cannot use ${variable}: it is not an http:// or https:// address`;
  throw new NetError('invalidRequest', message);
}

const PROXY_VARIABLES = new Map([
  ['https:', 'HTTPS_PROXY'],
  ['http:', 'HTTP_PROXY'],
]);

function covers(entry: string, host: string, port: string, address?: IpNetwork): boolean {
  if (entry === '*') return true;
  const whole = networkOfEntry(entry);
  const [, name = entry, wantedPort = port] =
    (whole === undefined ? /^(.*):(\d+)$/.exec(entry) : null) ?? [];
  if (wantedPort !== port) return false;
  const network = whole ?? networkOfEntry(name);
  if (network !== undefined) return address !== undefined && overlap(network, address);
  const domain = name.replace(/^\*\./, '.');
  if (domain === '' || domain === '.') return false;
  // A domain with a leading dot matches only its subdomains.
  return domain.startsWith('.')
    ? host.endsWith(domain)
    : host === domain || host.endsWith(`.${domain}`);
}

const networkOfEntry = (text: string) => parseNetwork(text.replace(/^\[(.*)\]$/, '$1'));

const isLoopback = (address: IpNetwork | undefined): boolean =>
  address !== undefined &&
  LOOPBACK.some((network) => network !== undefined && overlap(network, address));

const LOOPBACK = [parseNetwork('127.0.0.0/8'), parseNetwork('::1')];
