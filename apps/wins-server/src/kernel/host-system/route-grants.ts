import {
  formatAddress,
  formatNetwork,
  isIpv4LinkLocal,
  overlap,
  parseNetwork,
} from '@wins/wins-program';
import { FeatureError } from '../feature-error.js';

import type { OwnNetworks } from './own-networks.js';
import type { Destination } from './route-destinations.js';

/**
 * Judges whether routes to these destinations may be added or removed: each must lie within one granted network, and have
 * nothing in common with the host's own networks and gateways, wherever these lie. A link-local address, such as the metadata of a
 * cloud, needs a grant of exactly itself.
 *
 * @param granted - `routes.allow` of the config.
 * @throws FeatureError `notGranted` for the first that may not.
 */
export function assertGranted(
  destinations: readonly Destination[],
  granted: readonly string[],
  own: OwnNetworks,
): void {
  for (const destination of destinations) {
    const reason = refusal(destination, granted, own);
    if (reason !== undefined) {
      throw new FeatureError('notGranted', `${destination.cidr} cannot be routed: ${reason}`);
    }
  }
}

function refusal(
  { network }: Destination,
  granted: readonly string[],
  { networks, gateways }: OwnNetworks,
): string | undefined {
  const isLinkLocal = isIpv4LinkLocal(network);
  const isGranted = granted.some((text) => {
    const grant = parseNetwork(text);
    if (grant === undefined || !overlap(grant, network)) return false;
    return isLinkLocal ? grant.prefix === network.prefix : grant.prefix <= network.prefix;
  });
  if (!isGranted) {
    const count = granted.length === 0 ? 'no network' : `${granted.length} others`;
    const wanted = isLinkLocal ? 'this address itself' : 'one that it lies in';
    return `routes.allow of the daemon's config has ${count}; wanted ${wanted}`;
  }
  const own = networks.find((other) => overlap(other, network));
  if (own !== undefined) return `the host itself is in ${formatNetwork(own)}`;
  const gateway = gateways.find((other) => overlap(other, network));
  return gateway && `the host's gateway ${formatAddress(gateway.bytes)} is in it`;
}
