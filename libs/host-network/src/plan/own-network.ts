import { CONTAINER_NETWORK, parseNetwork, type NetworkItem, type RoutingState } from '@wins/base';
import type { DesiredNetwork, DesiredSubnet } from './desired-route.js';
import { addressOf, extentOf, extentsOf, isInside, isWithin, meet, textOf } from './extent.js';
import {
  MAX_CLUSTER,
  readSubnet,
  RFC_1918,
  type Refusal,
  type SubnetFault,
} from './judge-peers.js';
import type { OwnedItem } from './plan-items.js';
import { Surroundings } from './resolve-route.js';

/**
 * Why a host gets no container network. `hostInCluster`: containers would reach a network that the host is in.
 * `unsupported`: the system cannot have a container network.
 */
export type SubnetRejectionCode = SubnetFault | 'unsupported' | 'gatewayInvalid' | 'hostInCluster';

/** Undefined when the container network may be made on this host. */
export function judgeSubnet(
  { subnet, gateway }: DesiredSubnet,
  { cluster = RFC_1918, reserved = [] }: Pick<DesiredNetwork, 'cluster' | 'reserved'>,
  { interfaces, routes, items }: RoutingState,
  record: readonly OwnedItem[],
): Refusal<SubnetRejectionCode> | undefined {
  if (items === undefined)
    return ['unsupported', 'this system does not support a network of containers'];
  const extent = readSubnet(subnet);
  if (!('first' in extent)) return extent;
  const ranges = extentsOf(cluster.slice(0, MAX_CLUSTER));
  if (!ranges.some((range) => isInside(extent, range)))
    return ['outsideCluster', `it is not in ${cluster.join(', ')}`];
  const address = addressOf(gateway);
  if (address === undefined || address <= extent.first || address >= extent.last)
    return ['gatewayInvalid', `its gateway ${gateway} is not the address of a host in it`];
  const taken = reserved
    .flatMap((text) => addressOf(text) ?? [])
    .find((one) => ranges.some((range) => isWithin(one, range)));
  if (taken !== undefined) return ['reservedAddress', `containers would reach ${textOf(taken)}`];
  const others = interfaces.filter(({ id }) => id !== CONTAINER_NETWORK);
  const met = new Surroundings({ interfaces: others, routes: [] }).taken.find((one) =>
    ranges.some((range) => meet(one, range)),
  );
  if (met !== undefined)
    return ['hostInCluster', `containers would reach ${met.text}, which the host is in`];
  // Checks routes only for a new network, because other programs may add routes into an existing one.
  const own = addressItem({ subnet, gateway });
  if (record.some(({ item }) => item.value === own.value && item.key === own.key)) return undefined;
  const rival = routes.find(({ destination, interface: through }) => {
    const to = through === CONTAINER_NETWORK ? undefined : parseNetwork(destination);
    return to?.bytes.length === 4 && isInside(extentOf(to), extent);
  });
  return rival && ['foreignRoute', `there is a route to ${rival.destination}`];
}

/**
 * Lists all items of the container network. If wins enables forwarding on an uplink, it also adds rules, so that the host
 * does not become a router. If another program has enabled forwarding on the uplink, wins adds no rules, because limiting
 * that forwarding is the task of the other program.
 *
 * @param uplinks - Interfaces that lead to peers.
 */
export function itemsOf(
  own: DesiredSubnet,
  { cluster = RFC_1918 }: Pick<DesiredNetwork, 'cluster'>,
  uplinks: readonly string[],
  { items: listed = [], hasSubnetOnBridge }: Pick<RoutingState, 'items' | 'hasSubnetOnBridge'>,
  record: readonly OwnedItem[],
): readonly NetworkItem[] {
  const { subnet, gateway } = own;
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
    addressItem(own),
    { kind: 'filter', key: `${name} ingress`, value: passing },
    { kind: 'filter', key: `${name} egress`, value: passing },
    ...opened.flatMap((uplink): readonly NetworkItem[] => [
      { kind: 'rule', key: `${uplink} allow`, value: subnet },
      { kind: 'rule', key: `${uplink} deny`, value: '' },
    ]),
    ...[name, ...uplinks].map((key) => ({ kind: 'forwarding' as const, key, value: '1' })),
  ];
}

function addressItem({ subnet, gateway }: DesiredSubnet): NetworkItem {
  const key = `${gateway}${subnet.slice(subnet.indexOf('/'))}`;
  return { kind: 'address', key, value: CONTAINER_NETWORK };
}
