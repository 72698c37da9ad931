import type { OfferedWord } from '../command-line/option.js';

/** Lists network adapters with their addresses. In a container, these are the adapters of the container, not of the host. */
export async function adapters(): Promise<OfferedWord[]> {
  const { networkInterfaces } = await import('node:os');
  return Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
    name.replaceAll(/\s+/g, ' '),
    addresses.map(({ address }) => address).join(' '),
  ]);
}
