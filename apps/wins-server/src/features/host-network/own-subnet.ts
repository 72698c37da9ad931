import { formatAddress, parseNetwork } from '@wins/base';
import type { WinsConfig } from '@wins/config';
import type { DesiredSubnet } from '@wins/host-network';

/** Container network of this host; undefined if the config names none. */
export function ownSubnet({
  hostNetwork,
}: Pick<WinsConfig, 'hostNetwork'>): DesiredSubnet | undefined {
  const { subnet, gateway } = hostNetwork ?? {};
  return subnet === undefined ? undefined : { subnet, gateway: gateway ?? firstAddress(subnet) };
}

function firstAddress(subnet: string): string {
  const bytes = parseNetwork(subnet)?.bytes ?? Uint8Array.of();
  return formatAddress(bytes.map((byte, index) => (index === bytes.length - 1 ? byte + 1 : byte)));
}
