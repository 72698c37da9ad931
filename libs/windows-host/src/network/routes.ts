import {
  formatAddress,
  formatNetwork,
  networkOf,
  overlap,
  type IpNetwork,
  type RouteEntry,
} from '@wins/base';
import { checkStatus } from '../win32/calls/call.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { ipHelper, routeChanges } from '../win32/ip-helper.js';
import { MIB_IPFORWARD_ROW2 } from '../win32/structures.js';

const AF_INET = 2;
const AF_INET6 = 23;

/** The size of a SOCKADDR_INET: room for either family. */
const SOCKET_ADDRESS_BYTES = 28;

/** Undefined unless the bytes contain a whole IPv4 or IPv6 address. */
export function readSocketAddress(bytes: Uint8Array, offset = 0): Uint8Array | undefined {
  const family = (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
  const [start, length] = family === AF_INET ? [4, 4] : family === AF_INET6 ? [8, 16] : [0, 0];
  const address = bytes.slice(offset + start, offset + start + length);
  return length > 0 && address.length === length ? Uint8Array.from(address) : undefined;
}

/** A SOCKADDR_INET without port and scope. */
export function socketAddress(address: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(SOCKET_ADDRESS_BYTES);
  bytes[0] = address.length === 4 ? AF_INET : AF_INET6;
  bytes.set(address, address.length === 4 ? 4 : 8);
  return bytes;
}

/** A row of the IPv4 or IPv6 routing table, as the IP Helper API has it. */
export interface ForwardRow {
  readonly destination: IpNetwork;
  /** All zero when the interface reaches the destination directly. */
  readonly nextHop: Uint8Array;
  readonly interfaceIndex: number;
  /** Excludes the interface's own metric, which the system adds. */
  readonly metric: number;
  /** Number of the source of the route, as `NL_ROUTE_PROTOCOL` defines it. */
  readonly protocol: number;
}

export const PROTOCOL = {
  /** Routes of the system itself: to its own addresses, its networks, multicast. */
  local: 2,
  /** Management: routes that an administrator or a program added. */
  netmgmt: 3,
} as const;

/** The system's routing table. Its methods throw WindowsErrors. */
export interface RouteTable {
  read(): readonly ForwardRow[];
  /** @returns False when the row already exists. */
  add(row: ForwardRow): boolean;
  /** Ignores a missing row. */
  remove(row: ForwardRow): void;
}

const AF_UNSPEC = 0;
const ERROR_NOT_FOUND = 1168;
const ERROR_OBJECT_ALREADY_EXISTS = 5010;
/** Offset of the first row in a MIB_IPFORWARD_TABLE2, after the number of rows. */
const FIRST_ROW = 8;

export const systemRouteTable: RouteTable = {
  read: () => {
    const { GetIpForwardTable2, FreeMibTable } = ipHelper;
    const table: [bigint | null] = [null];
    const status = GetIpForwardTable2(AF_UNSPEC, table);
    checkStatus('cannot read the routing table', 'GetIpForwardTable2', status);
    const [start] = table;
    if (start === null) return [];
    try {
      const count = loadKoffi().decode(start, 'uint32_t') as number;
      return Array.from(
        { length: count },
        (_, index) => readRow(start, FIRST_ROW + index * MIB_IPFORWARD_ROW2.sizeBytes) ?? [],
      ).flat();
    } finally {
      FreeMibTable(start);
    }
  },
  add: (row) => {
    const status = routeChanges.CreateIpForwardEntry2(rowOf(row));
    const tried = `cannot add the route to ${formatNetwork(row.destination)}`;
    checkStatus(tried, 'CreateIpForwardEntry2', status, ERROR_OBJECT_ALREADY_EXISTS);
    return status === 0;
  },
  remove: (row) => {
    const status = routeChanges.DeleteIpForwardEntry2(rowOf(row));
    const tried = `cannot remove the route to ${formatNetwork(row.destination)}`;
    checkStatus(tried, 'DeleteIpForwardEntry2', status, ERROR_NOT_FOUND);
  },
};

function rowOf(row: ForwardRow): Buffer {
  const memory = MIB_IPFORWARD_ROW2.create({});
  routeChanges.InitializeIpForwardEntry(memory);
  writeRow(memory, row);
  return memory;
}

/** Undefined for a family that is neither IPv4 nor IPv6. */
export function readRow(memory: Buffer | bigint, offset = 0): ForwardRow | undefined {
  const row = MIB_IPFORWARD_ROW2.read(memory, offset);
  const bytes = readSocketAddress(row.destination);
  const nextHop = readSocketAddress(row.nextHop);
  if (bytes === undefined || nextHop === undefined) return undefined;
  return {
    destination: { bytes, prefix: Math.min(row.prefixLength, bytes.length * 8) },
    nextHop,
    interfaceIndex: row.InterfaceIndex,
    metric: row.Metric,
    protocol: row.Protocol,
  };
}

/** InitializeIpForwardEntry must have filled the row with the system's defaults. */
export function writeRow(memory: Buffer, route: ForwardRow): void {
  MIB_IPFORWARD_ROW2.write(memory, {
    InterfaceIndex: route.interfaceIndex,
    destination: socketAddress(route.destination.bytes),
    prefixLength: route.destination.prefix,
    nextHop: socketAddress(route.nextHop),
    Metric: route.metric,
    Protocol: route.protocol,
  });
}

// Multicast, loopback and broadcast. No gateway can route them, and they say nothing about the host.
const SYSTEMS_OWN: readonly IpNetwork[] = [
  { bytes: Uint8Array.of(224, 0, 0, 0), prefix: 4 },
  { bytes: Uint8Array.of(127, 0, 0, 0), prefix: 8 },
  { bytes: Uint8Array.of(255, 255, 255, 255), prefix: 32 },
  { bytes: Buffer.from('ff000000000000000000000000000000', 'hex'), prefix: 8 },
  { bytes: Buffer.from('00000000000000000000000000000001', 'hex'), prefix: 128 },
];

/** Omits multicast, broadcast, loopback and the host's own addresses. */
export function visibleRoutes(rows: readonly ForwardRow[]): readonly RouteEntry[] {
  return rows
    .filter((row) => !isSystemsOwn(row.destination) && !isOwnAddress(row))
    .map((row) => ({
      destinationCidr: formatNetwork(networkOf(row.destination)),
      gateway: isOnLink(row.nextHop) ? '' : formatAddress(row.nextHop),
      interfaceIndex: row.interfaceIndex,
      metric: row.metric,
    }));
}

/** True when the interface reaches the destination directly. */
export function isOnLink(nextHop: Uint8Array): boolean {
  return nextHop.every((byte) => byte === 0);
}

function isSystemsOwn(network: IpNetwork): boolean {
  return SYSTEMS_OWN.some((own) => network.prefix >= own.prefix && overlap(network, own));
}

function isOwnAddress({ destination, nextHop, protocol }: ForwardRow): boolean {
  const isHost = destination.prefix === destination.bytes.length * 8;
  return isHost && isOnLink(nextHop) && protocol === PROTOCOL.local;
}
