import { formatIpAddress, formatIpNetwork, isInNetwork, networkOf } from './ip-address.js';
import type { IpAddress, IpNetwork } from './ip-address.js';
import {
  decodeForwardRow,
  encodeForwardRow,
  FIRST_FORWARD_ROW,
  FORWARD_ROW_BYTES,
  PROTOCOL,
  type ForwardRow,
} from './ip-forward-row.js';
import {
  AF_UNSPEC,
  ERROR_NOT_FOUND,
  ERROR_OBJECT_ALREADY_EXISTS,
  ipHelper,
  routeChanges,
} from '../win32/ip-helper.js';
import { systemError } from '../windows-error.js';

/** One row of the routing table. */
export interface RouteEntry {
  /** `192.0.2.0/24`; `0.0.0.0/0` and `::/0` are default routes. */
  readonly destinationCidr: string;
  /** The next hop; empty for a network that the interface is in. */
  readonly gateway: string;
  readonly interfaceIndex: number;
  /** The lower one wins, after the metric of the interface is added. */
  readonly metric: number;
}

/** The system's routing table. What its methods throw is a WindowsError. */
export interface RouteTable {
  read(): readonly ForwardRow[];
  /** A row that is there already is no error. */
  add(row: ForwardRow): void;
  /** A row that is not there is no error. */
  remove(row: ForwardRow): void;
}

/** The routing table of Windows, IPv4 and IPv6. */
export const systemRouteTable: RouteTable = {
  read: () => {
    const { koffi, GetIpForwardTable2, FreeMibTable } = ipHelper();
    const table: [bigint | null] = [null];
    succeed(GetIpForwardTable2(AF_UNSPEC, table), 'GetIpForwardTable2', 'read the routing table');
    const [start] = table;
    if (start === null) return [];
    try {
      const count = koffi.decode(start, 'uint32_t') as number;
      if (count === 0) return [];
      const size = count * FORWARD_ROW_BYTES;
      const bytes = Buffer.from(
        koffi.decode(start, FIRST_FORWARD_ROW, 'uint8_t', size) as Uint8Array,
      );
      return Array.from({ length: count }, (_, index) => {
        const offset = index * FORWARD_ROW_BYTES;
        return decodeForwardRow(bytes.subarray(offset, offset + FORWARD_ROW_BYTES)) ?? [];
      }).flat();
    } finally {
      FreeMibTable(start);
    }
  },
  add: (row) => {
    const { CreateIpForwardEntry2 } = routeChanges();
    const status = CreateIpForwardEntry2(bytesOf(row));
    if (status === ERROR_OBJECT_ALREADY_EXISTS) return;
    succeed(
      status,
      'CreateIpForwardEntry2',
      `added the route to ${formatIpNetwork(row.destination)}`,
    );
  },
  remove: (row) => {
    const { DeleteIpForwardEntry2 } = routeChanges();
    const status = DeleteIpForwardEntry2(bytesOf(row));
    if (status === ERROR_NOT_FOUND) return;
    succeed(
      status,
      'DeleteIpForwardEntry2',
      `removed the route to ${formatIpNetwork(row.destination)}`,
    );
  },
};

// Neither can be led through a gateway, and they tell nothing about the host.
const SYSTEMS_OWN: readonly IpNetwork[] = [
  { address: Buffer.from([224, 0, 0, 0]), prefixLength: 4 },
  { address: Buffer.from([127, 0, 0, 0]), prefixLength: 8 },
  { address: Buffer.from([255, 255, 255, 255]), prefixLength: 32 },
  { address: Buffer.from('ff000000000000000000000000000000', 'hex'), prefixLength: 8 },
  { address: Buffer.from('00000000000000000000000000000001', 'hex'), prefixLength: 128 },
];

/** Whether the system keeps such addresses for itself: multicast, broadcast, loopback. */
export function isSystemsOwn({ address, prefixLength }: IpNetwork): boolean {
  return SYSTEMS_OWN.some((own) => prefixLength >= own.prefixLength && isInNetwork(address, own));
}

/** The rows that lead somewhere: without multicast, broadcast, loopback, and the host's own addresses. */
export function visibleRoutes(rows: readonly ForwardRow[]): readonly RouteEntry[] {
  return rows
    .filter((row) => !isSystemsOwn(row.destination) && !isOwnAddress(row))
    .map((row) => ({
      destinationCidr: formatIpNetwork(networkOf(row.destination)),
      gateway: isOnLink(row.nextHop) ? '' : formatIpAddress(row.nextHop),
      interfaceIndex: row.interfaceIndex,
      metric: row.metric,
    }));
}

/** Whether there is no next hop: the interface reaches the destination directly. */
export function isOnLink(nextHop: IpAddress): boolean {
  return nextHop.every((byte) => byte === 0);
}

function isOwnAddress({ destination, nextHop, protocol }: ForwardRow): boolean {
  const isHost = destination.prefixLength === destination.address.length * 8;
  return isHost && isOnLink(nextHop) && protocol === PROTOCOL.local;
}

function bytesOf(row: ForwardRow): Buffer {
  const bytes = Buffer.alloc(FORWARD_ROW_BYTES);
  routeChanges().InitializeIpForwardEntry(bytes);
  encodeForwardRow(bytes, row);
  return bytes;
}

function succeed(status: number, functionName: string, tried: string): void {
  if (status !== 0) throw systemError(tried, { functionName, errorNumber: status });
}
