import {
  CONTAINER_NETWORK,
  formatNetwork,
  networkOf,
  parseNetwork,
  unroutableReason,
  type NetworkItem,
  type RoutingState,
} from '@wins/base';
import type { DesiredNetwork, DesiredSubnet } from './desired-route.js';
import { addressOf, extentOf, isWithin, meet, textOf } from './extent.js';
import { MAX_CLUSTER, RFC_1918 } from './judge-peers.js';
import type { OwnedItem } from './plan-items.js';
import { takenNetworks } from './resolve-route.js';

/**
 * Reason why a host gets no network for its containers. `hostInCluster`: the host is in the network intended for its containers, or in one
 * that they may reach. `unsupported`: this system cannot have such a network.
 */
export type SubnetRejectionCode =
  | 'unsupported'
  | 'notCanonical'
  | 'prefixLength'
  | 'unroutable'
  | 'outsideCluster'
  | 'gatewayInvalid'
  | 'reservedAddress'
  | 'foreignRoute'
  | 'hostInCluster';

export interface SubnetRefusal {
  readonly code: SubnetRejectionCode;
  /** One clause, for people. */
  readonly detail: string;
}

const [SHORTEST_PREFIX, LONGEST_PREFIX] = [16, 29];

/** Returns the reason why the desired network must not be made on this host; undefined when it may. Pure. */
export function judgeSubnet(
  { subnet, gateway }: DesiredSubnet,
  { cluster = RFC_1918, reserved = [] }: Pick<DesiredNetwork, 'cluster' | 'reserved'>,
  { interfaces, routes, items }: RoutingState,
  record: readonly OwnedItem[],
): SubnetRefusal | undefined {
  if (items === undefined)
    return refused('unsupported', 'this system does not support a network of containers');
  const network = parseNetwork(subnet);
  if (network?.bytes.length !== 4 || formatNetwork(networkOf(network)) !== subnet)
    return refused('notCanonical', 'it is not a canonical IPv4 network');
  const reason = unroutableReason(network);
  if (reason !== undefined) return refused('unroutable', reason);
  const { prefix } = network;
  if (prefix < SHORTEST_PREFIX || prefix > LONGEST_PREFIX)
    return refused('prefixLength', `/${prefix} is not /16 to /29`);
  const extent = extentOf(network);
  const ranges = cluster.slice(0, MAX_CLUSTER).flatMap((text) => {
    const range = parseNetwork(text);
    return range?.bytes.length === 4 ? [extentOf(networkOf(range))] : [];
  });
  if (!ranges.some((range) => range.first <= extent.first && range.last >= extent.last))
    return refused('outsideCluster', `it is not in ${cluster.join(', ')}`);
  const address = addressOf(gateway);
  if (address === undefined || address <= extent.first || address >= extent.last)
    return refused('gatewayInvalid', `its gateway ${gateway} is not the address of a host in it`);
  const kept = reserved.flatMap((text) => addressOf(text) ?? []);
  const taken = kept.find((one) => ranges.some((range) => isWithin(one, range)));
  if (taken !== undefined)
    return refused('reservedAddress', `containers would reach ${textOf(taken)}`);
  const others = interfaces.filter(({ id }) => id !== CONTAINER_NETWORK);
  const met = takenNetworks(others).find((one) => ranges.some((range) => meet(one, range)));
  if (met !== undefined)
    return refused('hostInCluster', `containers would reach ${met.text}, which the host is in`);
  // Only for a new network: routes of other programs may later lead into an existing one.
  if (
    record.some(
      ({ item }) => item.value === CONTAINER_NETWORK && item.key === `${gateway}/${prefix}`,
    )
  )
    return undefined;
  const rival = routes.find(({ destination, interface: through }) => {
    const to = through === CONTAINER_NETWORK ? undefined : parseNetwork(destination);
    return to?.bytes.length === 4 && to.prefix >= prefix && meet(extentOf(to), extent);
  });
  return rival && refused('foreignRoute', `there is a route to ${rival.destination}`);
}

/**
 * Lists all items of the container network. Rules exist only for interfaces on which wins itself enables forwarding, so that the host does
 * not become a router. If another program already enabled forwarding, that program is responsible for limiting it.
 *
 * @param uplinks - Interfaces that lead to peers.
 */
export function itemsOf(
  { subnet, gateway }: DesiredSubnet,
  { cluster = RFC_1918 }: Pick<DesiredNetwork, 'cluster'>,
  uplinks: readonly string[],
  { items: listed = [], hasSubnetOnBridge }: Pick<RoutingState, 'items' | 'hasSubnetOnBridge'>,
  record: readonly OwnedItem[],
): readonly NetworkItem[] {
  const name = CONTAINER_NETWORK;
  const passing = [subnet, ...cluster.slice(0, MAX_CLUSTER)].join(' ');
  const opened = uplinks.filter((uplink) => {
    const there = listed.find(({ kind, key }) => kind === 'forwarding' && key === uplink);
    const isOurs =
      there?.isMarked !== false &&
      record.some(({ item }) => item.kind === 'forwarding' && item.key === uplink);
    return there?.value === '0' || isOurs;
  });
  return [
    { kind: 'bridge', key: name, value: hasSubnetOnBridge ? `${subnet} ${gateway}` : '' },
    { kind: 'address', key: `${gateway}${subnet.slice(subnet.indexOf('/'))}`, value: name },
    { kind: 'filter', key: `${name} ingress`, value: passing },
    { kind: 'filter', key: `${name} egress`, value: passing },
    ...opened.flatMap((uplink): readonly NetworkItem[] => [
      { kind: 'rule', key: `${uplink} allow`, value: subnet },
      { kind: 'rule', key: `${uplink} deny`, value: '' },
    ]),
    ...[name, ...uplinks].map((key) => ({ kind: 'forwarding' as const, key, value: '1' })),
  ];
}

function refused(code: SubnetRejectionCode, detail: string): SubnetRefusal {
  return { code, detail };
}
