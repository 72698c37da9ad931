import {
  formatAddress,
  formatNetwork,
  isSameRoute,
  parseAddress,
  parseNetwork,
  type HostRoutes,
  type ListedRoute,
  type NetworkChange,
  type RouteChange,
  type RouteOutcome,
  type StaticRoute,
  reporter,
} from '@wins/base';
import { uptime } from 'node:os';
import { call, checkStatus, OwnedHandle } from '../win32/calls/call.js';
import { EventWaits } from '../win32/calls/event-waits.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { routeNotices } from '../win32/ip-helper.js';
import { kernel32 } from '../win32/kernel32.js';
import { OVERLAPPED } from '../win32/structures.js';
import { WindowsError } from '../windows-error.js';
import type { AdapterEntry } from './network-adapters.js';
import {
  isOnLink,
  PROTOCOL,
  systemRouteTable,
  type ForwardRow,
  type RouteTable,
} from './routes.js';
import {
  changeItem,
  interfaceIdOf,
  listItems,
  outcomeOf,
  systemContainerCalls,
  type ContainerNetworkCalls,
} from './windows-network-items.js';

/** Tolerance for clock corrections when comparing computed boot times. A restart always takes longer. */
const SAME_BOOT_MS = 20_000;
const ERROR_IO_PENDING = 997;

/** Manages the network of Windows with IP Helper. Routes exist only until a restart. Errors are WindowsErrors. */
export function windowsHostRoutes(): HostRoutes {
  return hostRoutesOf(systemRouteTable, systemContainerCalls, () => Date.now() - uptime() * 1000);
}

/** `startedAtMs` returns the start of the system, in milliseconds since 1970. */
export function hostRoutesOf(
  table: RouteTable,
  calls: ContainerNetworkCalls,
  startedAtMs: () => number,
): HostRoutes {
  return {
    bootMark: () => new Date(startedAtMs()).toISOString(),
    isThisBoot: (mark) => Math.abs(Date.parse(mark) - startedAtMs()) <= SAME_BOOT_MS,
    list: async (withItems) => {
      const items = withItems ? await listItems(calls) : {};
      const entries = calls.adapters();
      return {
        interfaces: entries.flatMap(interfaceOf),
        routes: listed(table.read(), entries),
        ...items,
      };
    },
    change: async (changes) => {
      const outcomes = new Map<NetworkChange, RouteOutcome>();
      for (const one of changes) if ('item' in one) outcomes.set(one, await changeItem(one, calls));
      const entries = calls.adapters();
      for (const one of changes)
        if ('route' in one) outcomes.set(one, await outcomeOf(() => change(one, table, entries)));
      return changes.flatMap((one) => outcomes.get(one) ?? []);
    },
    watch,
  };
}

function interfaceOf(entry: AdapterEntry) {
  const { name, isUp, metrics, addresses } = entry;
  const own = addresses.filter(({ bytes }) => bytes.length === 4).map(formatNetwork);
  const id = interfaceIdOf(entry);
  return isUp && own.length > 0 ? [{ id, name, metric: metrics.ipv4, addresses: own }] : [];
}

function listed(
  rows: readonly ForwardRow[],
  entries: readonly AdapterEntry[],
): readonly ListedRoute[] {
  const ids = new Map(entries.map((entry) => [entry.index, interfaceIdOf(entry)]));
  return rows
    .filter(({ destination }) => destination.bytes.length === 4)
    .map(({ destination, nextHop, interfaceIndex, metric }) => ({
      destination: formatNetwork(destination),
      metric,
      gateway: isOnLink(nextHop) ? '' : formatAddress(nextHop),
      interface: ids.get(interfaceIndex) ?? '',
    }));
}

function change(
  { op, route }: RouteChange,
  table: RouteTable,
  entries: readonly AdapterEntry[],
): boolean {
  const row = rowOf(route, entries);
  if (op === 'add') return table.add(row);
  // The system ignores the metric when it removes a route. Keep a row with another metric: it belongs to someone else.
  if (listed(table.read(), entries).some((at) => isSameRoute(at, route))) table.remove(row);
  return true;
}

function rowOf(route: StaticRoute, entries: readonly AdapterEntry[]): ForwardRow {
  const destination = parseNetwork(route.destination);
  const nextHop = parseAddress(route.gateway === '' ? '0.0.0.0' : route.gateway);
  const entry = entries.find((one) => interfaceIdOf(one) === route.interface);
  if (destination === undefined || nextHop === undefined)
    throw new WindowsError('invalidArgument', `not an IPv4 route: ${JSON.stringify(route)}`);
  if (entry === undefined)
    throw new WindowsError('notFound', 'the interface of the route no longer exists');
  const { index: interfaceIndex } = entry;
  return {
    destination,
    nextHop,
    interfaceIndex,
    metric: route.metric,
    protocol: PROTOCOL.netmgmt,
  };
}

/** Requests one notice after another. https://learn.microsoft.com/windows/win32/api/iphlpapi/nf-iphlpapi-notifyroutechange */
const watch: HostRoutes['watch'] = async (onChange, { signal }) => {
  const tried = 'cannot wait for a change of routes';
  const { CreateEventW, SetEvent } = kernel32;
  const { NotifyRouteChange, CancelIPChangeNotify } = routeNotices;
  const isOver = (): boolean => signal.aborted;
  const report = reporter(onChange);
  if (isOver()) return;
  using event = new OwnedHandle(call(tried, CreateEventW, null, 0, 0, null));
  const waits = new EventWaits();
  const koffi = loadKoffi();
  const overlapped = koffi.alloc('uint8_t', OVERLAPPED.sizeBytes) as bigint;
  // A registered wait cannot be cancelled, so set its event to end it.
  const stop = (): number => SetEvent(event.value);
  let isAsked = false;
  try {
    signal.addEventListener('abort', stop);
    while (!isOver()) {
      OVERLAPPED.write(overlapped, { hEvent: event.value });
      const status = NotifyRouteChange([0], overlapped);
      checkStatus(tried, 'NotifyRouteChange', status, ERROR_IO_PENDING);
      isAsked = true;
      await waits.signalled(event.value, tried);
      if (!isOver()) {
        isAsked = false;
        report();
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    waits.close();
    // The system may still write to these 32 bytes after a cancellation, so do not free them.
    if (isAsked) CancelIPChangeNotify(overlapped);
    else koffi.free(overlapped);
  }
};
