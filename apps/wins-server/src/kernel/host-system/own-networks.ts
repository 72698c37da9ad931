import {
  isIpv4LinkLocal,
  networkOf,
  parseNetwork,
  type IpNetwork,
  type RouteEntry,
} from '@wins/wins-program';
import { networkInterfaces } from 'node:os';

/** What of a host's surroundings no client may lead elsewhere. */
export interface OwnNetworks {
  /**
   * The networks that its adapters are in. Of a link-local one the adapter's own address alone: an adapter that found no DHCP server is
   * in 169.254.0.0/16, where the metadata of a cloud is too, and that is not behind this adapter.
   */
  readonly networks: readonly IpNetwork[];
  /** The next hops that its routes lead to. */
  readonly gateways: readonly IpNetwork[];
}

/** The host's own networks, as its adapters and its routing table have them now. */
export function ownNetworks(
  routes: readonly RouteEntry[],
  adapters: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): OwnNetworks {
  const networks = Object.values(adapters).flatMap((addresses = []) =>
    addresses.flatMap(({ address, cidr }) => {
      const own = networkNamed(address);
      return own.some(isIpv4LinkLocal) ? own : networkNamed(cidr ?? address);
    }),
  );
  return { networks, gateways: routes.flatMap(({ gateway }) => networkNamed(gateway)) };
}

function networkNamed(text: string): readonly IpNetwork[] {
  const parsed = parseNetwork(text);
  return parsed === undefined ? [] : [networkOf(parsed)];
}
