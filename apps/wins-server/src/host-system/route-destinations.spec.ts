import { parseDestinations } from './route-destinations.js';

describe('destinations of routes', () => {
  it('are given once each, in canonical form', () => {
    expect(
      parseDestinations(['8.8.8.8', '8.8.8.8/32', '2001:DB8::1', '10.1.2.3/16']),
    ).toMatchObject([
      { text: '8.8.8.8', cidr: '8.8.8.8/32', family: 'ipv4' },
      { text: '2001:db8::1', cidr: '2001:db8::1/128', family: 'ipv6' },
      { text: '10.1.0.0/16', cidr: '10.1.0.0/16', family: 'ipv4' },
    ]);
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
    ['an address of one link', '169.254.169.254'],
    ['an address of one link of IPv6', 'fe80::1'],
    ['an IPv4 address in IPv6 clothes', '::ffff:8.8.8.8'],
    ['a name', 'example.com'],
    ['an option', '-batch'],
    ['a second command', '8.8.8.8; reboot'],
    ['a line end', '8.8.8.8\n'],
    ['NUL', '8.8.8.8\0'],
    ['nothing', ''],
  ])('are not %s', (_what, text) => {
    expect(() => parseDestinations(['9.9.9.9', text])).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }) as Error,
    );
  });

  it.each(['0.0.0.0/0', '8.8.8.8/0', '::/0'])(
    'are refused by name when they are the default: %s',
    (text) => {
      expect(() => parseDestinations([text])).toThrow(/it is the default route/);
    },
  );

  it('are at least one and at most 256', () => {
    const many = Array.from({ length: 256 }, (_, index) => `10.0.1.${index}`);
    expect(parseDestinations(many)).toHaveLength(256);
    for (const texts of [[], [...many, '10.0.2.1']]) {
      expect(() => parseDestinations(texts)).toThrow(/wanted 1 to 256/);
    }
  });

  it('appear in errors cut short and on one line', () => {
    expect(() => parseDestinations([`${'x'.repeat(100)}\n`])).toThrow(
      /^"x{64}" is no address;[^\n]*$/,
    );
  });
});
