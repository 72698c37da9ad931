import { defaultRouteOf, parseIpv4Routes, parseIpv6Routes } from './linux-routing-table.js';

const IPV4 = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth1	00000000	016433C6	0003	0	0	600	00000000	0	0	0
eth0	00000000	010200C0	0003	0	0	100	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	100	00FFFFFF	0	0	0
eth0	08080808	010200C0	0007	0	0	0	FFFFFFFF	0	0	0
*	0000000A	00000000	0200	0	0	0	000000FF	0	0	0
eth0	000000AC	00000000	0000	0	0	0	0000F0FF	0	0	0
torn line
`;

const ROUTE6 = (
  to: string,
  prefix: string,
  via: string,
  metric: string,
  flags: string,
  name: string,
) =>
  `${to} ${prefix} ${'0'.repeat(32)} 00 ${via} ${metric} 00000001 00000000 ${flags}     ${name}\n`;
const NONE = '0'.repeat(32);
const IPV6 = [
  ROUTE6('fd000000000000000000000000000000', '40', NONE, '00000100', '00000001', 'eth0'),
  ROUTE6(NONE, '00', 'fd000000000000000000000000000001', '00000400', '00000003', 'eth0'),
  ROUTE6('fd000000000000000000000000000002', '80', NONE, '00000000', '80200001', 'eth0'),
  ROUTE6('ff000000000000000000000000000000', '08', NONE, '00000100', '00000001', 'eth0'),
  ROUTE6(NONE, '00', NONE, 'ffffffff', '00200200', 'lo'),
].join('');

describe('the routing table of Linux', () => {
  const ipv4 = parseIpv4Routes(IPV4, 'LE');
  const ipv6 = parseIpv6Routes(IPV6);

  it('has the usable routes of IPv4', () => {
    expect(
      ipv4.map(({ destinationCidr, gateway, interfaceName, metric }) => [
        destinationCidr,
        gateway,
        interfaceName,
        metric,
      ]),
    ).toEqual([
      ['0.0.0.0/0', '198.51.100.1', 'eth1', 600],
      ['0.0.0.0/0', '192.0.2.1', 'eth0', 100],
      ['192.0.2.0/24', '', 'eth0', 100],
      ['8.8.8.8/32', '192.0.2.1', 'eth0', 0],
    ]);
  });

  it('is read in the byte order of the machine', () => {
    const line = 'eth0	C0000200	00000000	0001	0	0	0	FFFFFF00	0	0	0';
    expect(parseIpv4Routes(line, 'BE')[0]?.destinationCidr).toBe('192.0.2.0/24');
  });

  it('tells a next hop of IPv6 from none', () => {
    const line = (flags: string) =>
      `eth0	00000000	00000000	${flags}	0	0	0	00000000	0	0	0`;
    expect(parseIpv4Routes(`${line('0003')}\n${line('0001')}`, 'LE')).toMatchObject([
      { gateway: '', isOverIpv6: true },
      expect.not.objectContaining({ isOverIpv6: true }),
    ]);
  });

  it('has the usable routes of IPv6, without own addresses and multicast', () => {
    expect(ipv6).toEqual([
      {
        family: 'ipv6',
        interfaceName: 'eth0',
        destinationCidr: 'fd00::/64',
        gateway: '',
        metric: 256,
      },
      {
        family: 'ipv6',
        interfaceName: 'eth0',
        destinationCidr: '::/0',
        gateway: 'fd00::1',
        metric: 1024,
      },
    ]);
  });

  it('leads by default where the metric is lowest, IPv4 first', () => {
    const all = [...ipv6, ...ipv4];
    expect(defaultRouteOf(all)?.gateway).toBe('192.0.2.1');
    expect(defaultRouteOf(all, 'ipv6')?.gateway).toBe('fd00::1');
    expect(defaultRouteOf(ipv6)?.gateway).toBe('fd00::1');
    expect(defaultRouteOf([])).toBeUndefined();
  });
});
