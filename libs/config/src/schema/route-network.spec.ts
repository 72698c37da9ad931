import { isRouteNetwork } from './value-schemas.js';

it.each([
  '10.42.0.0/16',
  '10.0.0.0/8',
  '192.0.2.7',
  '192.0.2.7/32',
  '2001:db8::/32',
  '2001:DB8:0:1:2:3:4:5',
  'fd00::/8',
  '169.253.0.0/16',
  '169.254.169.254',
  '169.254.169.250/32',
  'fd00:ec2::254',
])('%s can be granted', (text) => {
  expect(isRouteNetwork(text)).toBe(true);
});

it.each([
  ['the default route', '0.0.0.0/0'],
  ['half of it', '128.0.0.0/1'],
  ['a large part of it', '64.0.0.0/7'],
  ['the default route of IPv6', '::/0'],
  ['half of that', '8000::/1'],
  ['a large part of that', '2000::/3'],
  ['this host', '0.1.2.3'],
  ['the loopback', '127.0.0.1'],
  ['a link', '169.254.0.0/16'],
  ['a part of a link', '169.254.169.0/24'],
  ['two addresses of a link', '169.254.169.254/31'],
  ['what has a link in it', '169.0.0.0/8'],
  ['half a link', '169.254.128.0/17'],
  ['multicast', '224.0.0.1'],
  ['what is reserved', '240.0.0.0/8'],
  ['the loopback of IPv6', '::1'],
  ['a link of IPv6', 'fe80::1'],
  ['part of a link of IPv6', 'febf::/16'],
  ['what has a link of IPv6 in it', 'fe00::/8'],
  ['multicast of IPv6', 'ff02::1'],
  ['an IPv4-mapped address', '::ffff:10.42.0.0'],
  ['the same in hexadecimal', '::ffff:a2a:0/112'],
  ['bits below the prefix', '10.42.0.1/16'],
  ['bits below the prefix of IPv6', '2001:db8::1/64'],
  ['a prefix that is too long', '10.42.0.0/33'],
  ['a prefix that is none', '10.42.0.0/x'],
  ['two prefixes', '10.42.0.0/16/16'],
  ['an empty prefix', '10.42.0.0/'],
  ['a zone', 'fe80::1%eth0'],
  ['a name', 'example.com'],
  ['nothing', ''],
])('%s cannot: %s', (_what, text) => {
  expect(isRouteNetwork(text)).toBe(false);
});
