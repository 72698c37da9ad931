import type { IpAddress, IpNetwork } from './ip-address.js';
import { readSocketAddress, writeSocketAddress } from './ip-socket-address.js';

/** One row of the system's routing table. */
export interface ForwardRow {
  readonly destination: IpNetwork;
  /** All zero bits for what the interface is in itself. */
  readonly nextHop: IpAddress;
  readonly interfaceIndex: number;
  /** Without the interface's own metric, which is added to it. */
  readonly metric: number;
  /** Who made it; see {@link PROTOCOL}. */
  readonly protocol: number;
}

/** Values of NL_ROUTE_PROTOCOL. */
export const PROTOCOL = {
  /** The system itself: its own addresses, its networks, multicast. */
  local: 2,
  /** Management: routes that an administrator or a program added. */
  netmgmt: 3,
} as const;

/** The size of a MIB_IPFORWARD_ROW2. */
export const FORWARD_ROW_BYTES = 104;
/** Where the first row is in a MIB_IPFORWARD_TABLE2, behind the number of rows. */
export const FIRST_FORWARD_ROW = 8;

/**
 * Where the fields of MIB_IPFORWARD_ROW2 are.
 * https://learn.microsoft.com/windows/win32/api/netioapi/ns-netioapi-mib_ipforward_row2
 */
const ROW = {
  interfaceIndex: 8,
  destination: 12,
  prefixLength: 40,
  nextHop: 44,
  metric: 84,
  protocol: 88,
} as const;

/** Reads one row; undefined for a family that is neither IPv4 nor IPv6. */
export function decodeForwardRow(bytes: Buffer): ForwardRow | undefined {
  const address = readSocketAddress(bytes, ROW.destination);
  const nextHop = readSocketAddress(bytes, ROW.nextHop);
  if (address === undefined || nextHop === undefined) return undefined;
  const prefixLength = Math.min(bytes.readUInt8(ROW.prefixLength), address.length * 8);
  return {
    destination: { address, prefixLength },
    nextHop,
    interfaceIndex: bytes.readUInt32LE(ROW.interfaceIndex),
    metric: bytes.readUInt32LE(ROW.metric),
    protocol: bytes.readUInt32LE(ROW.protocol),
  };
}

/** Writes a route over a row that InitializeIpForwardEntry filled with the system's defaults. */
export function encodeForwardRow(row: Buffer, route: ForwardRow): void {
  row.writeUInt32LE(route.interfaceIndex, ROW.interfaceIndex);
  writeSocketAddress(row, ROW.destination, route.destination.address);
  row.writeUInt8(route.destination.prefixLength, ROW.prefixLength);
  writeSocketAddress(row, ROW.nextHop, route.nextHop);
  row.writeUInt32LE(route.metric, ROW.metric);
  row.writeUInt32LE(route.protocol, ROW.protocol);
}
