import { overlap, parseNetwork, type IpNetwork } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which proxy leads to a server, as Go decides: that of `HTTPS_PROXY`, unless the server is on this machine or `NO_PROXY` names it by
 * address, network, name or domain, each with a port if it wants; both in capital or small letters. Undefined for none.
 *
 * @throws AgentError `invalidConnection`: the proxy has another scheme than `http` and `https`.
 */
export function proxyOf(server: URL, environment: Environment): string | undefined {
  const proxy = environment['HTTPS_PROXY'] || environment['https_proxy'] || '';
  if (proxy === '' || server.protocol !== 'https:') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = server.port || '443';
  const address = parseNetwork(host);
  const exceptions = environment['NO_PROXY'] || environment['no_proxy'] || '';
  const isException =
    host === 'localhost' ||
    isLoopback(address) ||
    exceptions.split(',').some((entry) => covers(entry.trim().toLowerCase(), host, port, address));
  if (isException) return undefined;

  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  // Its text may hold a password.
  const message = 'cannot use HTTPS_PROXY: found no address that begins with http:// or https://';
  throw new AgentError('invalidConnection', message);
}

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
  // A domain that begins with a dot is for what is below it alone.
  return domain.startsWith('.')
    ? host.endsWith(domain)
    : host === domain || host.endsWith(`.${domain}`);
}

function networkOfEntry(text: string): IpNetwork | undefined {
  return parseNetwork(text.replace(/^\[(.*)\]$/, '$1'));
}

function isLoopback(address: IpNetwork | undefined): boolean {
  return (
    address !== undefined &&
    LOOPBACK.some((network) => network !== undefined && overlap(network, address))
  );
}

const LOOPBACK = [parseNetwork('127.0.0.0/8'), parseNetwork('::1')];
