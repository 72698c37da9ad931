import { isIP, SocketAddress } from 'node:net';

/** An IP network. `bytes` has 4 or 16 bytes; `prefix` is in bits. */
export interface IpNetwork {
  readonly bytes: Uint8Array;
  readonly prefix: number;
}

const IPV4_LINK_LOCAL: IpNetwork = { bytes: Uint8Array.of(169, 254, 0, 0), prefix: 16 };
const MAPPED_IPV4 = /^::ffff:/;

const MAX_TEXT = 64;

/** Parses an IP address. Undefined for any other text, including an address with a zone (`fe80::1%eth0`). */
export function parseAddress(text: string): Uint8Array | undefined {
  const version = text.length > MAX_TEXT || text.includes('%') ? 0 : isIP(text);
  if (version === 4) return new Uint8Array(text.split('.').map(Number));
  if (version !== 6) return undefined;
  const canonical = new SocketAddress({ address: text, family: 'ipv6' }).address;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(canonical);
  const hexadecimal = dotted === null ? canonical : `${dotted[1] ?? ''}${pairsOf(dotted.slice(2))}`;
  const [head = '', tail] = hexadecimal.split('::');
  const groups = (half: string) => (half === '' ? [] : half.split(':'));
  const first = groups(head);
  const last = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return Uint8Array.from(
    [...first, ...zeros, ...last].flatMap((group) => {
      const value = parseInt(group, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

function pairsOf(decimals: readonly string[]): string {
  const hex = decimals.map((byte) => Number(byte).toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** Returns the canonical form: `192.0.2.1`, `2001:db8::1`. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** Parses `192.0.2.0/24`, or a single address. Undefined for other text. Keeps the host bits. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const [address = '', prefixText, more] = text.split('/', 3);
  const bytes = parseAddress(address);
  if (bytes === undefined || more !== undefined) return undefined;
  const bits = bytes.length * 8;
  if (prefixText === undefined) return { bytes, prefix: bits };
  const prefix = /^(?:0|[1-9]\d{0,2})$/.test(prefixText) ? Number(prefixText) : Infinity;
  return prefix <= bits ? { bytes, prefix } : undefined;
}

/** Clears the host bits. */
export function networkOf({ bytes, prefix }: IpNetwork): IpNetwork {
  const masked = bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff << (8 - kept));
  });
  return { bytes: masked, prefix };
}

/** Returns the canonical address and the prefix length: `192.0.2.0/24`. Keeps the host bits. */
export function formatNetwork({ bytes, prefix }: IpNetwork): string {
  return `${formatAddress(bytes)}/${prefix}`;
}

/** Whether two networks share an address. If so, one contains the other. */
export function overlap(one: IpNetwork, other: IpNetwork): boolean {
  if (one.bytes.length !== other.bytes.length) return false;
  const prefix = Math.min(one.prefix, other.prefix);
  const start = ({ bytes }: IpNetwork) => networkOf({ bytes, prefix }).bytes;
  return Buffer.compare(start(one), start(other)) === 0;
}

/** Whether a network overlaps 169.254.0.0/16. Routers do not forward packets there, but clouds serve metadata there. */
export function isIpv4LinkLocal(network: IpNetwork): boolean {
  return overlap(network, IPV4_LINK_LOCAL);
}

/** Returns why no route may lead to a network, else undefined. A single address of 169.254.0.0/16 is allowed. */
export function unroutableReason(network: IpNetwork): string | undefined {
  const { bytes, prefix } = network;
  const [first = 0] = bytes;
  if (prefix === 0) return 'it is the default route';
  if (bytes.length === 4) {
    if (first === 0) return 'it is not the address of a host';
    if (first === 127) return 'it is the loopback';
    if (prefix < 32 && isIpv4LinkLocal(network))
      return 'it contains link-local addresses, which can only be routed one by one';
    return first >= 224 ? 'it is multicast or reserved' : undefined;
  }
  const text = formatAddress(bytes);
  if (text === '::') return 'it is not the address of a host';
  if (text === '::1') return 'it is the loopback';
  if (MAPPED_IPV4.test(text)) return 'it is an IPv4-mapped address';
  if (first === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80) return 'it is link-local';
  return first === 0xff ? 'it is multicast' : undefined;
}
