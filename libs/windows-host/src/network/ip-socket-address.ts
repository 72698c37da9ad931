import type { IpAddress } from './ip-address.js';

const AF_INET = 2;
const AF_INET6 = 23;

/** The size of a SOCKADDR_INET: room for either family. */
export const SOCKET_ADDRESS_BYTES = 28;

/** Reads a SOCKADDR_IN or SOCKADDR_IN6; undefined for another family, or when it does not fit into the bytes. */
export function readSocketAddress(bytes: Buffer, offset: number): IpAddress | undefined {
  if (offset < 0 || offset + 2 > bytes.length) return undefined;
  const family = bytes.readUInt16LE(offset);
  const [start, length] = family === AF_INET ? [4, 4] : family === AF_INET6 ? [8, 16] : [0, 0];
  if (length === 0 || offset + start + length > bytes.length) return undefined;
  return Buffer.from(bytes.subarray(offset + start, offset + start + length));
}

/** Writes a SOCKADDR_INET without port and scope. */
export function writeSocketAddress(bytes: Buffer, offset: number, address: IpAddress): void {
  bytes.fill(0, offset, offset + SOCKET_ADDRESS_BYTES);
  bytes.writeUInt16LE(address.length === 4 ? AF_INET : AF_INET6, offset);
  address.copy(bytes, offset + (address.length === 4 ? 4 : 8));
}
