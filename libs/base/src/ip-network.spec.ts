import {
  formatAddress,
  formatNetwork,
  networkOf,
  parseAddress,
  parseNetwork,
} from './ip-network.js';

const canonical = (text: string): string | undefined => {
  const bytes = parseAddress(text);
  return bytes === undefined ? undefined : formatAddress(bytes);
};

describe('an IP address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::', '2001:db8::'],
    ['::', '::'],
    ['::1', '::1'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('%s is written %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    '192.0.2',
    '192.0.2.01',
    '192.0.2.256',
    '0x7f.1',
    'fe80::1%eth0',
    '::g',
    '1::2::3',
    '127.1',
  ])('is not read from %j', (text) => {
    expect(canonical(text)).toBeUndefined();
  });

  it('is not read from a long text', () => {
    expect(canonical(`${'0'.repeat(100_000)}::1`)).toBeUndefined();
  });
});

describe('an IP network', () => {
  const network = (text: string): string | undefined => {
    const parsed = parseNetwork(text);
    return parsed === undefined ? undefined : formatNetwork(networkOf(parsed));
  };

  it.each([
    ['192.0.2.77/24', '192.0.2.0/24'],
    ['192.0.2.255/25', '192.0.2.128/25'],
    ['192.0.2.1', '192.0.2.1/32'],
    ['192.0.2.1/0', '0.0.0.0/0'],
    ['2001:db8:ffff::1/36', '2001:db8:f000::/36'],
    ['2001:db8::1', '2001:db8::1/128'],
  ])('%s is %s', (text, expected) => {
    expect(network(text)).toBe(expected);
  });

  it.each([
    '192.0.2.1/33',
    '192.0.2.1/',
    '192.0.2.1/-1',
    '192.0.2.1/08',
    '192.0.2.1/8/8',
    '2001:db8::/129',
    '/24',
    '192.0.2.1/1e1',
  ])('is not read from %j', (text) => {
    expect(network(text)).toBeUndefined();
  });
});
