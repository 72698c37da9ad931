import { assertGranted, ownNetworks, parseDestinations } from './judge-routes.js';

const address = (cidr: string) => ({
  address: cidr.split('/')[0] ?? '',
  cidr,
  netmask: '',
  mac: '',
  internal: false,
  ...(cidr.includes(':') ? { family: 'IPv6' as const, scopeid: 0 } : { family: 'IPv4' as const }),
});
const route = (gateway: string) => ({
  destinationCidr: '0.0.0.0/0',
  gateway,
  interfaceIndex: 2,
  metric: 0,
});
const OWN = ownNetworks([route('10.99.0.1'), route(''), route('2001:db8:9::1')], {
  lo: [address('127.0.0.1/8'), address('::1/128')],
  eth0: [address('10.42.3.4/24'), address('2001:db8:1::5/64'), address('fe80::5/64')],
  vEthernet: [address('169.254.3.4/16')],
  none: undefined,
});
const METADATA = ['169.254.169.254/32', '169.254.169.253', 'fd00:ec2::254'];
const GRANTS = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', ...METADATA];
const judge =
  (text: string, granted = GRANTS) =>
  () =>
    assertGranted(parseDestinations([text]), granted, OWN);

describe('the routes that the config grants', () => {
  it.each(['10.1.0.0/16', '10.42.4.0/24', '10.42.2.255', '192.0.2.7', '2001:db8:2::/48'])(
    'may be changed: %s',
    (text) => {
      expect(judge(text)).not.toThrow();
    },
  );

  it.each([
    [
      'outside of every grant',
      '192.0.2.8',
      /routes\.allow .* only other networks \(6\); wanted a network that contains it/,
    ],
    ['larger than its grant', '192.0.2.0/24', /routes\.allow/],
    ['a metadata address that is not listed', '169.254.169.250', /wanted this address itself/],
    ['of the other family', '2001:db9::1', /routes\.allow/],
    ['what the host is in', '10.42.3.0/24', /the host itself is in 10\.42\.3\.0\/24/],
    ['half of what the host is in', '10.42.3.0/25', /the host itself is in/],
    ['a neighbour of the host', '10.42.3.9', /the host itself is in/],
    ['more than what the host is in', '10.42.0.0/16', /the host itself is in/],
    ['what the host is in, of IPv6', '2001:db8:1::/64', /2001:db8:1::\/64/],
    ['the gateway', '10.99.0.1', /gateway 10\.99\.0\.1/],
    ['what has the gateway in it', '10.99.0.0/16', /gateway 10\.99\.0\.1/],
    ['the gateway of IPv6', '2001:db8:9::/48', /gateway 2001:db8:9::1/],
  ])('are not those %s: %s', (_what, text, reason) => {
    expect(judge(text)).toThrow(
      expect.objectContaining({
        code: 'notGranted',
        message: expect.stringMatching(reason) as string,
      }) as Error,
    );
  });

  it.each([...METADATA, '169.254.169.254'])(
    'may be the metadata of a cloud, also where an adapter is in 169.254.0.0/16: %s',
    (text) => {
      expect(judge(text)).not.toThrow();
    },
  );

  it('are never the link-local address of the host, nor one of a wider grant', () => {
    expect(judge('169.254.3.4', ['169.254.3.4'])).toThrow(/the host itself is in 169\.254\.3\.4/);
    expect(judge('169.254.169.254', ['169.254.0.0/16', '169.0.0.0/8'])).toThrow(
      /has only other networks \(2\); wanted this address itself/,
    );
  });

  it('are none where it grants none, and the error names the key', () => {
    expect(judge('10.1.0.0/16', [])).toThrow(/routes\.allow of the daemon's config has no network/);
  });

  it('are judged one by one: a single one that is not granted refuses all', () => {
    const destinations = parseDestinations(['10.1.0.0/16', '198.51.100.1']);
    expect(() => assertGranted(destinations, GRANTS, OWN)).toThrow('198.51.100.1/32');
  });
});
