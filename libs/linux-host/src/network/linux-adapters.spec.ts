import type { NetworkInterfaceInfo } from 'node:os';
import type { NetworkSelector } from '@wins/base';
import { findAdapter } from './linux-adapters.js';
import type { LinuxRoute } from './linux-routing-table.js';

const info = (family: 'IPv4' | 'IPv6', address: string, prefix: number): NetworkInterfaceInfo => ({
  ...({ family, scopeid: 0 } as { family: 'IPv6'; scopeid: number }),
  address,
  netmask: '',
  mac: '02:00:00:00:00:01',
  internal: false,
  cidr: `${address}/${prefix}`,
});
const route = (
  family: LinuxRoute['family'],
  interfaceName: string,
  gateway: string,
): LinuxRoute => ({
  family,
  interfaceName,
  destinationCidr: family === 'ipv4' ? '0.0.0.0/0' : '::/0',
  gateway,
  metric: 0,
});

const INTERFACES = {
  lo: [info('IPv4', '127.0.0.1', 8)],
  eth0: [info('IPv6', 'fe80::1', 64), info('IPv6', 'fd00::2', 64), info('IPv4', '192.0.2.2', 24)],
  eth1: [info('IPv6', 'fe80::9', 64), info('IPv6', '2001:db8::9', 48)],
};
const ROUTES = [route('ipv4', 'eth0', '192.0.2.1'), route('ipv6', 'eth1', '2001:db8::1')];

describe('a network adapter', () => {
  it.each<[string, NetworkSelector | undefined, object]>([
    [
      'is by default the one of the default route',
      undefined,
      {
        interfaceName: 'eth0',
        gatewayAddress: '192.0.2.1',
        subnetCidr: '192.0.2.0/24',
        addressCidr: '192.0.2.2/32',
      },
    ],
    [
      'has a name',
      { name: 'lo' },
      { gatewayAddress: '', subnetCidr: '127.0.0.0/8', addressCidr: '127.0.0.1/32' },
    ],
    [
      'may have IPv6 alone',
      { name: 'eth1' },
      {
        gatewayAddress: '2001:db8::1',
        subnetCidr: '2001:db8::/48',
        addressCidr: '2001:db8::9/128',
      },
    ],
    [
      'has addresses',
      { address: '192.0.2.2' },
      { interfaceName: 'eth0', addressCidr: '192.0.2.2/32' },
    ],
    [
      'has addresses in any spelling',
      { address: 'FD00:0::2' },
      {
        interfaceName: 'eth0',
        gatewayAddress: '',
        subnetCidr: 'fd00::/64',
        addressCidr: 'fd00::2/128',
      },
    ],
  ])('%s', (_what, which, expected) => {
    expect(findAdapter(INTERFACES, ROUTES, which)).toMatchObject(expected);
  });

  it('of a host with IPv6 alone is the one of its default route', () => {
    expect(findAdapter(INTERFACES, ROUTES.slice(1))).toMatchObject({
      interfaceName: 'eth1',
      addressCidr: '2001:db8::9/128',
    });
  });

  it.each<[string, readonly LinuxRoute[], NetworkSelector | undefined, string]>([
    ['there is no default route', [], undefined, 'notFound'],
    ['no adapter has the name', ROUTES, { name: 'eth9' }, 'notFound'],
    ['the name is one that every object knows', ROUTES, { name: 'constructor' }, 'notFound'],
    ['no adapter has the address', ROUTES, { address: '192.0.2.9' }, 'notFound'],
    ['the address is none', ROUTES, { address: 'eth0' }, 'invalidArgument'],
  ])('is not found when %s', (_what, routes, which, code) => {
    expect(() => findAdapter(INTERFACES, routes, which)).toThrow(
      expect.objectContaining({ code }) as Error,
    );
  });
});
