import {
  formatIpAddress,
  formatIpNetwork,
  isInNetwork,
  networkOf,
  parseIpAddress,
  parseIpNetwork,
  type IpNetwork,
} from './ip-address.js';

const network = (text: string): IpNetwork => {
  const parsed = parseIpNetwork(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const canonical = (text: string) => formatIpAddress(network(text).address);

it.each([
  ['192.0.2.255', 'c00002ff'],
  ['::', '00000000000000000000000000000000'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::', '20010db8000000000000000000000000'],
  ['2001:db8::a:0:b', '20010db8000000000000000a0000000b'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
  ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
])('reads %s', (text, hex) => {
  expect(parseIpAddress(text)?.toString('hex')).toBe(hex);
});

it.each([
  '',
  '1.2.3',
  '1.2.3.256',
  '01.2.3.4',
  ' 1.2.3.4',
  '1.2.3.4\0',
  'fe80::1%4',
  '1::2::3',
  'g::',
])('does not take %j for an address', (text) => expect(parseIpAddress(text)).toBeUndefined());

it.each([
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['192.0.2.1', '192.0.2.1'],
])('writes %s as %s', (text, written) => {
  expect(canonical(text)).toBe(written);
});

it.each([
  '1.2.3.4/33',
  '1.2.3.4/',
  '1.2.3.4/-1',
  '1.2.3.4/08',
  '::/129',
  '1.2.3.4/1/2',
  '/8',
  '::1/1e1',
])('does not take %j for a network', (text) => expect(parseIpNetwork(text)).toBeUndefined());

it.each([
  ['192.0.2.2/24', '192.0.2.0/24'],
  ['192.0.2.2', '192.0.2.2/32'],
  ['255.255.255.255/0', '0.0.0.0/0'],
  ['172.31.255.255/12', '172.16.0.0/12'],
  ['2001:db8:ffff:ffff::1/49', '2001:db8:ffff:8000::/49'],
])('finds that the network of %s is %s', (text, found) => {
  expect(formatIpNetwork(networkOf(network(text)))).toBe(found);
});

it.each([
  ['10.1.2.3', '10.1.0.0/16', true],
  ['10.1.2.3', '10.1.9.9/16', true],
  ['10.2.2.3', '10.1.0.0/16', false],
  ['::ffff:10.1.2.3', '10.1.0.0/16', false],
  ['2001:db8::5', '2001:db8::/64', true],
  ['0.0.0.1', '::/0', false],
])('judges whether %s is in %s', (address, text, verdict) => {
  expect(isInNetwork(network(address).address, network(text))).toBe(verdict);
});
