import { readFileSync } from 'node:fs';
import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import {
  Container,
  dial,
  listen,
  networkOf,
  ownOf,
  peer,
  send,
  standings,
  withoutMac,
} from './containers.js';
import { connect, HostInNetwork } from './host-in-network.js';

/** The tests change networks, so each creates its own. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'networks of containers, since only root may make hosts for them',
);

inOwnNetwork('the network of containers of a host', () => {
  const hostNetwork = { ...ownOf(1), peers: [peer(2, '192.0.2.7')] };

  it('comes back when somebody removes parts of it, and gives up parts that somebody changed', async () => {
    await using host = await HostInNetwork.start(hostNetwork);
    const status = await host.network('apply');
    expect(standings(status)).toEqual([
      'route 10.42.2.0/24 applied',
      'bridge wins-subnet applied',
      'address 10.42.1.1/24 applied',
      'filter wins-subnet ingress applied',
      'filter wins-subnet egress applied',
      'rule wins0 allow applied',
      'rule wins0 deny applied',
      'forwarding wins-subnet applied',
      'forwarding wins0 applied',
    ]);
    const there = networkOf(host);
    for (const words of [
      'link del wins-subnet',
      'rule del pref 19901 iif wins0 prohibit',
      'addr del 10.42.1.1/24 dev wins-subnet',
    ]) {
      host.ip(words);
      expect(await host.network('apply')).toMatchObject({ state: 'settled', problems: [] });
      expect(networkOf(host).map(withoutMac)).toEqual(there.map(withoutMac));
    }
    // The daemon also checks on its own. If it restores the filter before the plan is made, try again.
    let planned: Awaited<ReturnType<typeof host.network>>;
    do {
      await host.run('/sbin/tc', 'filter', 'del', 'dev', 'wins-subnet', 'egress').outcome;
      planned = await host.network('plan');
    } while ((planned as { readonly steps: readonly unknown[] }).steps.length === 0);
    expect(planned).toMatchObject({
      steps: [
        { op: 'remove', item: { kind: 'forwarding', key: 'wins-subnet' } },
        { op: 'remove', item: { kind: 'forwarding', key: 'wins0' } },
        { op: 'add', item: { kind: 'filter', key: 'wins-subnet egress' } },
      ],
    });
    await host.network('apply');
    const filter = host.run('/sbin/tc', 'filter', 'show', 'dev', 'wins-subnet', 'egress');
    expect((await filter.outcome).stdout.toString()).toContain('direct-action');

    // Another program enables forwarding on all interfaces; from then on wins leaves the setting alone.
    await host.run('/bin/sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward').outcome;
    expect(standings(await host.network('apply'))).toContain('forwarding wins0 foreign');
    await host.network('teardown');
    expect(host.ip('rule show')).not.toContain('19901');
    expect(host.ip('netconf show dev wins0')).toMatch(/forwarding on/);
  });

  it('stays unchanged while it cannot be listed, and routes are kept', async () => {
    await using host = await HostInNetwork.start(hostNetwork);
    await host.network('apply');
    const there = networkOf(host);
    await host.run('/bin/mount', '--bind', '/dev/null', '/sbin/tc').outcome;
    host.ip('route del 10.42.2.0/24');
    expect(await host.network('apply')).toMatchObject({
      state: 'partial',
      problems: [expect.stringMatching(/^10\.42\.1\.0\/24: .*iproute2/)],
    });
    expect(networkOf(host)).toEqual(there);
    const torn = await host.network('teardown');
    expect(torn.problems).toEqual([expect.stringMatching(/^wins-subnet: .*iproute2/)]);
    expect(host.routes()).not.toContainEqual(expect.stringContaining('10.42.2.0'));
    expect(host.ip('rule show')).toContain('19901');
    await host.run('/bin/umount', '/sbin/tc').outcome;
    expect(await host.network('apply')).toMatchObject({ state: 'settled', problems: [] });
    // The daemon may have completed the teardown on its own. Then the bridge is new and has another MAC address.
    expect(networkOf(host).map(withoutMac)).toEqual(there.map(withoutMac));
  });

  it('is the same after a daemon that was killed, and goes without the section', async () => {
    await using host = await HostInNetwork.start(
      undefined,
      'ip rule add pref 19950 from 198.51.100.1 lookup main',
    );
    const before = networkOf(host);
    host.configure(hostNetwork);
    await host.wins('srv', 'config', 'reload');
    await host.network('apply');
    const there = networkOf(host);
    expect(JSON.parse(readFileSync(host.recordFile, 'utf8'))).toMatchObject({
      items: expect.arrayContaining([
        { item: { kind: 'forwarding', key: 'wins0', value: '1' }, state: 'applied', prior: '0' },
      ]) as unknown,
    });
    await host.killAndStartAgain();
    expect(await host.network('apply')).toMatchObject({ state: 'settled' });
    expect(networkOf(host)).toEqual(there);
    await host.killAndStartAgain(() => host.configure({ keep: [] }));
    await host.network('apply').catch(() => undefined);
    expect(networkOf(host)).toEqual(before);
  });

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

inOwnNetwork('containers of three hosts', () => {
  it('reach each other, but no longer containers of a host that has left', async () => {
    await using one = await HostInNetwork.start({
      ...ownOf(1),
      peers: [peer(2, '172.16.1.2'), peer(3, '172.16.2.3')],
    });
    await using two = await HostInNetwork.start({
      ...ownOf(2),
      peers: [peer(1, '172.16.1.1'), peer(3, '172.16.3.3')],
    });
    await using three = await HostInNetwork.start({
      ...ownOf(3),
      peers: [peer(1, '172.16.2.1'), peer(2, '172.16.3.2')],
    });
    connect(one, '172.16.1.1/24', two, '172.16.1.2/24', 'cable1');
    connect(one, '172.16.2.1/24', three, '172.16.2.3/24', 'cable2');
    connect(two, '172.16.3.2/24', three, '172.16.3.3/24', 'cable3');
    for (const host of [one, two, three])
      expect(await host.network('apply')).toMatchObject({ state: 'settled', problems: [] });
    const start = (host: HostInNetwork, number: number) =>
      Container.start(host, [`10.42.${number}.10/24`], { gateway: `10.42.${number}.1` });
    await using a = await start(one, 1);
    await using b = await start(two, 2);
    await using c = await start(three, 3);
    await using ofB = await listen(b);
    await using ofC = await listen(c);
    expect(await dial(a, '10.42.2.10', '10.42.3.10')).toEqual(['hello', 'hello']);
    expect(await dial(b, '10.42.3.10')).toEqual(['hello']);
    expect(await dial(c, '10.42.2.10')).toEqual(['hello']);

    one.configure({ ...ownOf(1), peers: [peer(2, '172.16.1.2')] });
    await one.wins('srv', 'config', 'reload');
    await one.network('apply');
    one.ip('route del default');
    expect(await dial(a, '10.42.3.10', '10.42.2.10')).toEqual([
      expect.stringMatching(/UNREACH/) as unknown,
      'hello',
    ]);
    expect(one.ip('rule show')).not.toContain('cable2');
    expect([ofB, ofC]).toHaveLength(2);
  });
});

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
        status.routes
          .filter(({ state }) => state !== 'applied')
          .map(({ destination, state }) => `${state} ${destination}`),
      ).toEqual(host === one ? ['waiting 169.254.169.250/32', 'waiting 169.254.169.251/32'] : []);
      expect(status).toMatchObject({ state: 'settled', problems: [] });
    }
    expect(await one.network('plan')).toMatchObject({ steps: [] });
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
        'hello',
        'hello',
        'hello',
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
      // Containers of the cluster may reach a container, but hosts on the uplink may not.
      await send(other, ['10.42.1.11', 'from a host']);
      await send(there, ['10.42.1.11', 'from a container']);
      expect(await ofBeside.got('from a container')).toEqual(['from a container']);
      // The host must not forward packets to its other networks.
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
      expect(held.problems.join()).toMatch(/containers are attached to wins-subnet/);
      one.ip('addr del 169.254.169.254/32 dev lo');
    }
    expect(await one.network('teardown')).toMatchObject({ problems: [], down: true });
    expect(networkOf(one)).toEqual(before);
  });
});
