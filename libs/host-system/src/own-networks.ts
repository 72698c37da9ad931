import { networkOf, parseNetwork, type IpNetwork } from '@wins/wins-program';
import { networkInterfaces } from 'node:os';
import type { RouteEntry } from './host-system.js';

/** What of a host's surroundings no client may lead elsewhere. */
export interface OwnNetworks {
  /** The networks that its adapters are in. */
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
    addresses.flatMap(({ address, cidr }) => networkNamed(cidr ?? address)),
  );
  return { networks, gateways: routes.flatMap(({ gateway }) => networkNamed(gateway)) };
}

function networkNamed(text: string): readonly IpNetwork[] {
  const parsed = parseNetwork(text);
  return parsed === undefined ? [] : [networkOf(parsed)];
}
