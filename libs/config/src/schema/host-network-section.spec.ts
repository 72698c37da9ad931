import { parseConfig } from '../index.js';

const read = (hostNetwork: object) =>
  parseConfig(JSON.stringify({ hostNetwork }), { platform: 'linux' }).config.hostNetwork;

describe('the section hostNetwork', () => {
  it('has routes with a metric, and clouds', () => {
    const route = { destination: '10.42.1.0/24', gateway: '192.0.2.7', interface: 'eth0' };
    expect(read({ routes: [route], keep: ['aws', 'azure', 'gce', 'rancher'] })).toEqual({
      routes: [{ ...route, metric: 256 }],
      keep: ['aws', 'azure', 'gce', 'rancher'],
      peers: [],
      ports: [],
    });
    expect(read({})).toEqual({ routes: [], keep: [], peers: [], ports: [] });
  });

  it.each<[string, object]>([
    ['the default route', { destination: '0.0.0.0/0' }],
    ['half of all addresses', { destination: '128.0.0.0/1' }],
    ['loopback', { destination: '127.0.0.0/8' }],
    ['multicast', { destination: '224.0.0.0/4' }],
    ['a network of link-local addresses', { destination: '169.254.0.0/16' }],
    ['bits below the prefix', { destination: '10.42.1.1/24' }],
    ['IPv6', { destination: '2001:db8::/32' }],
    ['a name', { destination: 'metadata' }],
    ['no destination', { gateway: '192.0.2.7' }],
    ['a gateway of IPv6', { destination: '10.1.0.0/16', gateway: '2001:db8::1' }],
    ['shell text as gateway', { destination: '10.1.0.0/16', gateway: '192.0.2.7; reboot' }],
    ['a gateway with a prefix', { destination: '10.1.0.0/16', gateway: '192.0.2.7/24' }],
    ['a blank interface', { destination: '10.1.0.0/16', interface: ' ' }],
    ['a metric of 0', { destination: '10.1.0.0/16', metric: 0 }],
    ['a key that does nothing', { destination: '10.1.0.0/16', mtu: 1400 }],
  ])('refuses %s', (_what, route) => {
    expect(() =>
      parseConfig(JSON.stringify({ hostNetwork: { routes: [route] } }), {
        platform: 'linux',
        strict: true,
      }),
    ).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  });

  it('has sources of other hosts, of which none is on by default', () => {
    const metadata = { hostUuid: '1h2-a', environmentUuid: 'E1' };
    expect(read({ metadata, nodes: true, probePort: 80 })).toMatchObject({
      metadata: { ...metadata, address: '169.254.169.250', ports: false },
      nodes: { enabled: true },
      probePort: 80,
    });
    const more = { address: '127.0.0.1:8080', routerIp: '172.16.0.2' };
    const published = { ...metadata, ...more, ports: true };
    const own = { subnet: '10.42.1.0/24', cluster: ['10.42.0.0/16'] };
    expect(read({ ...own, metadata: published })?.metadata).toEqual(published);
  });

  it('reads nodes by the connection of the agent, or by a kubeconfig', () => {
    expect(read({ nodes: true })?.nodes).toEqual({ enabled: true });
    expect(read({ nodes: false })?.nodes).toEqual({ enabled: false });
    const kubeconfig = '/etc/rancher/nodes.yaml';
    expect(read({ nodes: { kubeconfig } })?.nodes).toEqual({ enabled: true, kubeconfig });
    const off = { enabled: false, kubeconfig };
    expect(read({ nodes: off })?.nodes).toEqual(off);
    const { config } = parseConfig(JSON.stringify({ hostNetwork: { nodes: { kubeconfig } } }), {
      platform: 'win32',
    });
    expect(config.hostNetwork?.nodes?.kubeconfig).toMatch(/^[A-Z]:\/etc\/rancher\/nodes\.yaml$/);
  });

  it.each<[string, unknown]>([
    ['another word', 'maybe'],
    ['a path alone', '/etc/rancher/nodes.yaml'],
    ['a blank path', { kubeconfig: ' ' }],
    ['an empty path', { kubeconfig: '' }],
    ['no path', { kubeconfig: null }],
    ['a path in a list', { kubeconfig: ['/etc/rancher/nodes.yaml'] }],
    ['a misspelt key, which would make it read another cluster', { kubconfig: '/etc/nodes' }],
    ['a list', [{ kubeconfig: '/etc/nodes' }]],
  ])('refuses nodes with %s', (_what, nodes) => {
    expect(() => read({ nodes })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  });

  it.each<[string, object]>([
    ['no uuid of the host', { environmentUuid: 'e1' }],
    ['no uuid of the environment', { hostUuid: 'h' }],
    ['a path as uuid', { hostUuid: '../h', environmentUuid: 'e1' }],
    ['a service elsewhere', { hostUuid: 'h', environmentUuid: 'e1', address: '192.0.2.1' }],
    ['a service by name', { hostUuid: 'h', environmentUuid: 'e1', address: 'rancher-metadata' }],
    ['port 0', { hostUuid: 'h', environmentUuid: 'e1', address: '169.254.169.250:0' }],
    ['ports of no subnet', { hostUuid: 'h', environmentUuid: 'e1', ports: true }],
    ['a router that is none', { hostUuid: 'h', environmentUuid: 'e1', routerIp: 'router' }],
  ])('refuses metadata with %s', (_what, metadata) => {
    expect(() => read({ metadata })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  });

  it('has a network of containers, and those of other hosts', () => {
    const own = { subnet: '10.42.1.0/24', gateway: '10.42.1.1', cluster: ['10.42.0.0/16'] };
    const peers = [{ subnet: '10.42.2.0/24', via: '172.16.0.3' }];
    expect(read({ ...own, peers })).toMatchObject({ ...own, peers });
  });

  it.each<[string, object]>([
    ['a subnet outside of the cluster', { subnet: '10.43.1.0/24' }],
    ['a subnet without a cluster', { cluster: undefined }],
    ['a subnet of one address', { subnet: '10.42.1.1' }],
    ['a subnet of 30 bits', { subnet: '10.42.1.0/30' }],
    ['a subnet of 8 bits', { subnet: '10.0.0.0/8', cluster: ['10.0.0.0/8'] }],
    ['a subnet with bits below its prefix', { subnet: '10.42.1.1/24' }],
    ['a gateway elsewhere', { gateway: '10.42.2.1' }],
    ['the address of the subnet as gateway', { gateway: '10.42.1.0' }],
    ['its broadcast address as gateway', { gateway: '10.42.1.255' }],
    ['a gateway without a subnet', { subnet: undefined, gateway: '10.42.1.1' }],
    ['all networks as cluster', { cluster: ['0.0.0.0/0'] }],
    ['a peer without an address', { peers: [{ subnet: '10.42.2.0/24' }] }],
    ['a peer by its name', { peers: [{ subnet: '10.42.2.0/24', via: 'host-b' }] }],
    ['a peer with shell text', { peers: [{ subnet: '10.42.2.0/24; reboot', via: '172.16.0.3' }] }],
  ])('refuses %s', (_what, wrong) => {
    const own = { subnet: '10.42.1.0/24', cluster: ['10.42.0.0/16'] };
    expect(read(own)).toMatchObject(own);
    expect(() => read({ ...own, ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid' }) as Error,
    );
  });

  it('has ports that lead to containers, one by one', () => {
    const port = { proto: 'udp', listen: '0.0.0.0:53', to: '192.168.100.10:5353' };
    expect(read({ ports: [port, { ...port, proto: 'tcp', allowReserved: true }] })?.ports).toEqual([
      { ...port, allowReserved: false, allowHost: false },
      { ...port, proto: 'tcp', allowReserved: true, allowHost: false },
    ]);
  });

  it.each([
    '0.0.0.0:0',
    '0.0.0.0:65536',
    '0.0.0.0:80-81',
    '0.0.0.0',
    ':80',
    '80',
    '0.0.0.0:',
    '',
    '1.2.3.4::80',
    '0.0.0.0:1.2.3.4:80',
    '[::]:80',
    '::1:80',
    'localhost:80',
    '*:80',
    '0.0.0.0:080',
    '0.0.0.0:+80',
    '0.0.0.0:80/tcp',
    '01.2.3.4:80',
    '1.2.3:80',
    '256.1.1.1:80',
    ' 0.0.0.0:80',
    '0.0.0.0:80 ',
    '0.0.0.0:8 0',
    '0x7f.0.0.1:80',
    '1.2.3.4:80;reboot',
    '１.2.3.4:80',
  ])('refuses %j as the address or target of a port', (written) => {
    const port = { proto: 'tcp', listen: '0.0.0.0:8080', to: '192.168.100.10:80' };
    expect(() => read({ ports: [{ ...port, listen: written }] })).toThrow(/an IPv4 address/);
    expect(() => read({ ports: [{ ...port, to: written }] })).toThrow(/an IPv4 address/);
  });

  it('refuses another protocol, and more than 512 ports', () => {
    const port = { proto: 'tcp', listen: '0.0.0.0:8080', to: '192.168.100.10:80' };
    expect(() => read({ ports: [{ ...port, proto: 'sctp' }] })).toThrow(/tcp or udp/);
    const ports = Array.from({ length: 513 }, (_, index) => ({
      ...port,
      listen: `0.0.0.0:${10_000 + index}`,
    }));
    expect(() => read({ ports })).toThrow(/at most 512 ports/);
    expect(read({ ports: ports.slice(1) })?.ports).toHaveLength(512);
  });

  it('refuses another cloud, and more than 1,000 routes', () => {
    expect(() => read({ keep: ['moon'] })).toThrow(/aws, azure, gce or rancher/);
    const routes = Array.from({ length: 1001 }, (_, index) => ({
      destination: `10.${index >> 8}.${index & 0xff}.0/24`,
    }));
    expect(() => read({ routes })).toThrow(/at most 1000 routes/);
    expect(read({ routes: routes.slice(1) })?.routes).toHaveLength(1000);
  });
});
