import { formatAddress, networkOf, parseAddress, parseNetwork, type IpNetwork } from '@wins/base';

/** First and last address of an IPv4 network, as numbers. */
export interface Extent {
  readonly first: number;
  readonly last: number;
}

export function isWithin(address: number, { first, last }: Extent): boolean {
  return address >= first && address <= last;
}

export function isInside(inner: Extent, outer: Extent): boolean {
  return inner.first >= outer.first && inner.last <= outer.last;
}

export function meet(one: Extent, other: Extent): boolean {
  return one.first <= other.last && one.last >= other.first;
}

export function extentOf({ bytes, prefix }: IpNetwork): Extent {
  const first = numberOf(bytes);
  return { first, last: first + 2 ** (32 - prefix) - 1 };
}

export function extentsOf(networks: readonly string[]): readonly Extent[] {
  return networks.flatMap((text) => {
    const network = parseNetwork(text);
    return network?.bytes.length === 4 ? [extentOf(networkOf(network))] : [];
  });
}

/** Undefined for any text but an IPv4 address. */
export function addressOf(text: string): number | undefined {
  const bytes = text === '' ? undefined : parseAddress(text);
  return bytes?.length === 4 ? numberOf(bytes) : undefined;
}

export function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}

export function textOf(address: number): string {
  return formatAddress(Uint8Array.from([24, 16, 8, 0], (shift) => (address >>> shift) & 0xff));
}

/** Index of the first item whose number is at least `address`. Items must be sorted by that number. */
export function firstAtLeast<Item>(
  sorted: readonly Item[],
  address: number,
  of: (item: Item) => number,
): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && of(item) < address) low = middle + 1;
    else high = middle;
  }
  return low;
}
