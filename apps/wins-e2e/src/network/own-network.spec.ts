import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { Container, dial, listen, networkOf, ownOf, peer, send, standings } from './containers.js';
import { connect, HostInNetwork } from './host-in-network.js';

/** The tests change networks, so each creates its own. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'networks of containers, since only root may make hosts for them',
);

inOwnNetwork('containers of two hosts', () => {
  it('reach each other and their gateway, and nothing else of the hosts or behind them', async () => {
    // Cloud images have such a route for metadata and licences.
    const ofCloud = '169.254.169.250 via 192.0.2.1 dev wins0 metric 256';
    await using one = await HostInNetwork.start(undefined, `ip route add ${ofCloud}`);
    await using other = await HostInNetwork.start(undefined);
    connect(one, '172.16.0.2/24', other, '172.16.0.3/24');
    const before = networkOf(one);
    for (const [host, hostNetwork] of [
      [one, { ...ownOf(1), peers: [peer(2, '172.16.0.3')], keep: ['rancher'] }],
      [other, { ...ownOf(2), peers: [peer(1, '172.16.0.2')] }],
    ] as const) {
      host.configure(hostNetwork);
      await host.wins('srv', 'config', 'reload');
      const status = await host.network('apply');
      // No container is attached yet, so the bridge is down.
      expect(
        status.Routes.filter(({ State }) => State !== 'applied').map(
          ({ Destination, State }) => `${State} ${Destination}`,
        ),
      ).toEqual(host === one ? ['waiting 169.254.169.250/32', 'waiting 169.254.169.251/32'] : []);
      expect(status).toMatchObject({ State: 'settled', Problems: [] });
    }
    expect(await one.network('plan')).toMatchObject({ Steps: [] });
    {
      const gateway = '10.42.1.1';
      await using here = await Container.start(one, ['10.42.1.10/24'], { gateway });
      await using beside = await Container.start(one, ['10.42.1.11/24'], { gateway });
      await using there = await Container.start(other, ['10.42.2.10/24'], { gateway: '10.42.2.1' });
      const metadata = ['10.42.1.12/24', '169.254.169.250/32', '169.254.169.251/32'];
      await using service = await Container.start(one, metadata, { gateway });
      await one.network('apply');
      expect(one.routes()).toEqual(
        expect.arrayContaining([
          ofCloud,
          ...['250', '251'].map(
            (last) => `169.254.169.${last} dev wins-subnet proto 199 scope link metric 1`,
          ),
        ]),
      );
      // Containers must not reach this address of the host, where clouds serve metadata.
      one.ip('addr add 169.254.169.254/32 dev lo');
      await using ofHost = await listen(one);
      await using ofOther = await listen(other);
      await using ofBeside = await listen(beside);
      await using ofThere = await listen(there);
      await using ofService = await listen(service);
      const near = ['10.42.1.11', '10.42.2.10', '10.42.1.1', '10.42.2.1', '169.254.169.250'];
      expect(await dial(here, ...near)).toEqual(near.map(() => 'hello'));
      expect(await dial(there, '10.42.1.11')).toEqual(['hello']);
      expect(await dial(one, '169.254.169.254', '169.254.169.250', '169.254.169.251')).toEqual([
        ...['hello', 'hello', 'hello'],
      ]);

      await send(
        here,
        ['169.254.169.254', 'cloud'],
        ['192.0.2.2', 'port'],
        ['172.16.0.2', 'uplink'],
        ['10.42.1.1', 'gateway'],
      );
      expect(await ofHost.got('gateway')).toEqual(['gateway']);
      await send(here, ['172.16.0.3', 'port of the other'], ['10.42.2.1', 'gateway']);
      expect(await ofOther.got('gateway')).toEqual(['gateway']);
      // Forge the address of a container on the other host.
      here.ip('addr add 10.42.2.99/32 dev lo');
      here.ip('route replace 10.42.2.0/24 via 10.42.1.1 src 10.42.2.99');
      await send(here, ['10.42.2.10', 'forged']);
      here.ip('route del 10.42.2.0/24');
      await send(here, ['10.42.2.10', 'own']);
      expect(await ofThere.got('own')).toEqual(['own']);
      // Containers of the cluster reach a container; another machine on the uplink must not.
      await send(other, ['10.42.1.11', 'from a host']);
      await send(there, ['10.42.1.11', 'from a container']);
      expect(await ofBeside.got('from a container')).toEqual(['from a container']);
      // The host must not route to its other networks either.
      await using lan = await Container.start(one, ['203.0.113.5/24'], {
        gateway: '203.0.113.1',
        bridge: '',
      });
      one.ip(`addr add 203.0.113.1/24 dev ${lan.cable}`);
      other.ip('route add 203.0.113.0/24 via 172.16.0.2');
      await using ofLan = await listen(lan);
      await send(other, ['203.0.113.5', 'through the host']);
      await send(here, ['203.0.113.5', 'from a container']);
      await send(one, ['203.0.113.5', 'from the host']);
      expect(await ofLan.got('from the host')).toEqual(['from the host']);
      expect(ofService).toBeDefined();

      const held = await one.network('teardown');
      expect(held.Problems.join()).toMatch(/containers are attached to wins-subnet/);
      one.ip('addr del 169.254.169.254/32 dev lo');
    }
    expect(await one.network('teardown')).toMatchObject({ Problems: [], Down: true });
    expect(networkOf(one)).toEqual(before);
  });
});

inOwnNetwork('the network of containers of a host', () => {
  it('is refused where it would let containers reach the host, and peers that take what is not theirs', async () => {
    const peers = [
      peer(2, '192.0.2.7'),
      { subnet: '10.42.2.0/25', via: '192.0.2.8' },
      { subnet: '10.42.1.128/25', via: '192.0.2.9' },
      { subnet: '198.18.0.0/16', via: '192.0.2.10' },
      { subnet: '10.42.3.0/24', via: '10.42.1.9' },
    ];
    await using host = await HostInNetwork.start({ ...ownOf(1), cluster: ['10.42.0.0/16'], peers });
    const status = await host.network('apply');
    expect(standings(status)).toEqual(
      expect.arrayContaining([
        'route 10.42.2.0/24 rejected disputed',
        'route 10.42.2.0/25 rejected disputed',
        'route 10.42.1.128/25 rejected ownSubnet',
        'route 198.18.0.0/16 rejected outsideCluster',
        'route 10.42.3.0/24 rejected nextHopInCluster',
      ]),
    );
    host.configure({ ...ownOf(1), cluster: ['10.42.0.0/16', '192.0.2.0/24'] });
    await host.wins('srv', 'config', 'reload');
    expect(standings(await host.network('apply'))).toEqual([
      'subnet 10.42.1.0/24 rejected hostInCluster',
    ]);
    expect(host.ip('-o link show')).not.toContain('wins-subnet');
    const { stdout } = await host.wins('doctor', '--config', host.workspace.path('config'));
    expect(stdout.toString()).toMatch(/10\.42\.1\.0\/24: containers would reach 192\.0\.2\.0\/24/);
  });
});
