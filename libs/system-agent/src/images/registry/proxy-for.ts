import { BlockList, isIP } from 'node:net';

/** Proxies, as the variables of these names have them. */
export interface Proxies {
  /** An address such as `http://proxy.example:3128`; absent or empty for none. */
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Hosts, domains, addresses and networks that are asked without a proxy, with commas between them; `*` for all. */
  readonly noProxy?: string;
}

/** Which proxy is asked, by the rules of Go's `net/http`; undefined for none. This machine is always asked without. */
export function proxyFor(
  url: URL,
  { httpProxy, httpsProxy, noProxy = '' }: Proxies,
): string | undefined {
  const proxy = url.protocol === 'https:' ? httpsProxy : httpProxy;
  if (!proxy || isLoopback(url.hostname)) return undefined;
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry !== '' && covers(entry, url)) ? undefined : proxy;
}

/** Whether a host, as a URL has it, is this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function covers(entry: string, url: URL): boolean {
  if (entry === '*') return true;
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const [network = '', bits] = entry.split('/');
  if (bits !== undefined) return isInNetwork(address, network, Number(bits));
  if (entry === address) return true;
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === 'https:' ? '443' : '80')))
    return false;
  if (isIP(address) !== 0) return name === address || name === url.hostname;
  // With a point in front it is about the names below it alone.
  if (/^\*?\./.test(name)) return url.hostname.endsWith(name.replace(/^\*/, ''));
  return url.hostname === name || url.hostname.endsWith(`.${name}`);
}

function isInNetwork(address: string, network: string, bits: number): boolean {
  const [family, ofNetwork] = [isIP(address), isIP(network)];
  const valid = Number.isInteger(bits) && bits >= 0 && bits <= (family === 4 ? 32 : 128);
  if (family === 0 || family !== ofNetwork || !valid) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, family === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
