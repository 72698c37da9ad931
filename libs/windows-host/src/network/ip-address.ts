import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/** An address as its bytes, first the most significant: 4 of IPv4 or 16 of IPv6. */
export type IpAddress = Buffer;

/** A network: what the first `prefixLength` bits of its addresses are. */
export interface IpNetwork {
  readonly address: IpAddress;
  /** 0 to 32, or 0 to 128. */
  readonly prefixLength: number;
}

/** Reads an address; undefined for any other text, also for one with a zone (`fe80::1%4`). */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [before = [], after = []] = text.split('::').map(groupsOf);
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  const groups = [...before, ...zeros, ...after];
  const address = Buffer.alloc(16);
  groups.forEach((group, index) => address.writeUInt16BE(group, index * 2));
  return address;
}

/** Writes an address in its one canonical spelling. */
export function formatIpAddress(address: IpAddress): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    address.readUInt16BE(index * 2).toString(16),
  );
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** Reads `192.0.2.0/24` or `2001:db8::/64`, or an address as a network of itself alone; undefined when it is neither. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const [, head = '', length] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseIpAddress(head);
  if (address === undefined) return undefined;
  const prefixLength = length === undefined ? address.length * 8 : Number(length);
  return prefixLength > address.length * 8 ? undefined : { address, prefixLength };
}

/** Writes `192.0.2.0/24`. */
export function formatIpNetwork({ address, prefixLength }: IpNetwork): string {
  return `${formatIpAddress(address)}/${prefixLength}`;
}

/** The network that an address is in: its bits behind the prefix are zero. */
export function networkOf({ address, prefixLength }: IpNetwork): IpNetwork {
  const kept = address.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefixLength - index * 8));
    return byte & (0xff00 >> bits);
  });
  return { address: Buffer.from(kept), prefixLength };
}

/** Whether an address is in a network; one of the other family never is. */
export function isInNetwork(address: IpAddress, network: IpNetwork): boolean {
  if (address.length !== network.address.length) return false;
  const { prefixLength } = network;
  return networkOf({ address, prefixLength }).address.equals(networkOf(network).address);
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const bytes = Buffer.from(group.split('.').map(Number));
    return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
  });
}
