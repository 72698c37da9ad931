const AF_INET = 2;
const AF_INET6 = 23;

/** The size of a SOCKADDR_INET: room for either family. */
export const SOCKET_ADDRESS_BYTES = 28;

/** Reads a SOCKADDR_IN or SOCKADDR_IN6; undefined for another family, or when it does not fit into the bytes. */
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
