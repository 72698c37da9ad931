import {
  formatAddress,
  formatNetwork,
  networkOf as maskedNetwork,
  overlap,
  parseAddress,
  parseNetwork,
  type IpNetwork as Network,
} from '@wins/wins-program';

/** An address as its bytes, the most significant first: 4 of IPv4 or 16 of IPv6. */
export type IpAddress = Buffer;

/** A network: what the first `prefixLength` bits of its addresses are. */
export interface IpNetwork {
  readonly address: IpAddress;
  /** 0 to 32, or 0 to 128. */
  readonly prefixLength: number;
}

/** Reads an address; undefined for any other text, also for one with a zone (`fe80::1%4`). */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bytes = parseAddress(text);
  return bytes && Buffer.from(bytes);
}

/** Writes an address in its one canonical spelling. */
export function formatIpAddress(address: IpAddress): string {
  return formatAddress(address);
}

/** Reads `192.0.2.0/24` or `2001:db8::/64`, or an address as a network of itself alone; undefined for any other text. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const network = parseNetwork(text);
  return network && fromNetwork(network);
}

/** Writes `192.0.2.0/24`. */
export function formatIpNetwork(network: IpNetwork): string {
  return formatNetwork(toNetwork(network));
}

/** The network that an address is in: its bits behind the prefix are zero. */
export function networkOf(network: IpNetwork): IpNetwork {
  return fromNetwork(maskedNetwork(toNetwork(network)));
}

/** Whether an address is in a network; one of the other family never is. */
export function isInNetwork(address: IpAddress, network: IpNetwork): boolean {
  return overlap({ bytes: address, prefix: address.length * 8 }, toNetwork(network));
}

/** A network of `@wins/wins-program`, in the form of this library. */
export function fromNetwork({ bytes, prefix }: Network): IpNetwork {
  return { address: Buffer.from(bytes), prefixLength: prefix };
}

function toNetwork({ address, prefixLength }: IpNetwork): Network {
  return { bytes: address, prefix: prefixLength };
}
