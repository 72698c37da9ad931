import {
  formatAddress,
  formatNetwork,
  networkOf,
  parseAddress,
  parseNetwork,
  quoteText,
  type NetworkAdapter,
  type NetworkSelector,
} from '@wins/base';
import type { NetworkInterfaceInfo } from 'node:os';
import { LinuxError } from '../linux-error.js';
import { defaultRouteOf, type LinuxRoute } from './linux-routing-table.js';

/** In the form of `os.networkInterfaces()`. */
export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** An adapter without its index and the host name, which the caller adds. */
export interface FoundAdapter extends Omit<NetworkAdapter, 'interfaceIndex' | 'hostName'> {
  readonly interfaceName: string;
}

/**
 * Finds the selected adapter; by default, the adapter with the default route. If `which` gives no address, also selects one of the adapter's
 * addresses. Prefers addresses of the wanted family: IPv4 for a named adapter, otherwise the family of the default route. Within a family,
 * prefers addresses that are not link-local.
 *
 * @throws LinuxError `notFound`; `invalidArgument` for a text that is not an address.
 */
export function findAdapter(
  interfaces: Interfaces,
  routes: readonly LinuxRoute[],
  which?: NetworkSelector,
): FoundAdapter {
  if (which !== undefined && 'address' in which)
    return byAddress(interfaces, routes, which.address);
  const name = which?.name ?? defaultRouteOf(routes)?.interfaceName;
  if (name === undefined) {
    throw new LinuxError('notFound', 'there is no default route, so no default adapter');
  }
  const addresses = Object.hasOwn(interfaces, name) ? (interfaces[name] ?? []) : [];
  const family = which === undefined ? defaultRouteOf(routes)?.family : undefined;
  const preferred = [...addresses].sort((a, b) => rankOf(a, family) - rankOf(b, family))[0];
  if (preferred === undefined) {
    const message = `there is no network adapter ${quoteText(name)} that is up and has an address`;
    throw new LinuxError('notFound', message);
  }
  return describe(name, preferred, routes);
}

function byAddress(
  interfaces: Interfaces,
  routes: readonly LinuxRoute[],
  text: string,
): FoundAdapter {
  const bytes = parseAddress(text);
  if (bytes === undefined) {
    const message = `${quoteText(text)} is not an address; wanted for example 192.0.2.2 or 2001:db8::2`;
    throw new LinuxError('invalidArgument', message);
  }
  const wanted = formatAddress(bytes);
  for (const [name, addresses = []] of Object.entries(interfaces)) {
    const found = addresses.find(({ address }) => address === wanted);
    if (found !== undefined) return describe(name, found, routes);
  }
  throw new LinuxError('notFound', `no network adapter has the address ${wanted}`);
}

function rankOf(
  { family, address }: NetworkInterfaceInfo,
  wanted: LinuxRoute['family'] | undefined,
): number {
  const isWanted = family.toLowerCase() === (wanted ?? 'ipv4');
  return (isWanted ? 0 : 2) + (/^fe[89ab]/i.test(address) ? 1 : 0);
}

function describe(
  interfaceName: string,
  { address, cidr, family }: NetworkInterfaceInfo,
  routes: readonly LinuxRoute[],
): FoundAdapter {
  const own = routes.filter((route) => route.interfaceName === interfaceName);
  const gateway = defaultRouteOf(own, family === 'IPv4' ? 'ipv4' : 'ipv6')?.gateway;
  const host = parseNetwork(address);
  const subnet = parseNetwork(cidr ?? address);
  return {
    interfaceName,
    gatewayAddress: gateway ?? '',
    subnetCidr: subnet === undefined ? '' : formatNetwork(networkOf(subnet)),
    addressCidr: host === undefined ? '' : formatNetwork(host),
  };
}
