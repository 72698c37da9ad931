import { formatNetwork } from '../ip-network.js';
import { readRouteDestinations } from './route-destinations.js';

const read = (...texts: string[]): readonly string[] | string => {
  const result = readRouteDestinations(texts);
  return 'refused' in result ? result.refused : result.networks.map(formatNetwork);
};

describe('the destinations of routes', () => {
  it('are hosts and networks, each once', () => {
    const texts = ['8.8.8.8', '8.8.8.8/32', '2001:DB8::1', '10.1.0.0/16', '2001:db8:1::/48'];
    expect(read(...texts)).toEqual([
      '8.8.8.8/32',
      '2001:db8::1/128',
      '10.1.0.0/16',
      '2001:db8:1::/48',
    ]);
  });

  it('are metadata addresses of clouds, each by itself', () => {
    expect(read('169.254.169.254', '169.254.169.253/32', 'fd00:ec2::254')).toEqual([
      '169.254.169.254/32',
      '169.254.169.253/32',
      'fd00:ec2::254/128',
    ]);
  });

  it.each(['10.1.2.3/16', '2001:db8::1/64'])('have no bit set below the prefix: %s', (text) => {
    expect(read('9.9.9.9', text)).toMatch(/it has bits set below its prefix; wanted /);
  });

  it.each([
    ['the default route', '0.0.0.0/0'],
    ['the default route, spelt as an address', '8.8.8.8/0'],
    ['the default route of IPv6', '::/0'],
    ['this host', '0.0.0.0'],
    ['the loopback', '127.0.0.1'],
    ['the loopback of IPv6', '::1'],
    ['multicast', '224.0.0.1'],
    ['multicast of IPv6', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['a network of link-local addresses', '169.254.169.0/24'],
    ['two link-local addresses', '169.254.169.254/31'],
    ['a network with link-local addresses in it', '169.0.0.0/8'],
    ['an address of one link of IPv6', 'fe80::1'],
    ['an IPv4-mapped address', '::ffff:8.8.8.8'],
    ['a name', 'example.com'],
    ['an option', '-batch'],
    ['a second command', '8.8.8.8; reboot'],
    ['a line end', '8.8.8.8\n'],
    ['NUL', '8.8.8.8\0'],
    ['nothing', ''],
  ])('are not %s', (_what, text) => {
    expect(typeof read('9.9.9.9', text)).toBe('string');
  });

  it('are at least one and at most 256', () => {
    const many = Array.from({ length: 256 }, (_, index) => `10.0.1.${index}`);
    expect(read(...many)).toHaveLength(256);
    expect(read()).toMatch(/wanted 1 to 256/);
    expect(read(...many, '10.0.2.1')).toMatch(/wanted 1 to 256/);
  });

  it('appear in refusals cut short and on one line', () => {
    expect(read(`${'x'.repeat(100)}\n`)).toMatch(/^"x{64}" is not an address;[^\n]*$/);
  });
});
