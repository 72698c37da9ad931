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
      expect(await host.network('apply')).toMatchObject({ State: 'settled', Problems: [] });
      expect(networkOf(host).map(withoutMac)).toEqual(there.map(withoutMac));
    }
    // The daemon also checks on its own. If it restores the filter before the plan is made, try again.
    let planned: Awaited<ReturnType<typeof host.network>>;
    do {
      await host.run('/sbin/tc', 'filter', 'del', 'dev', 'wins-subnet', 'egress').outcome;
      planned = await host.network('plan');
    } while ((planned as { readonly Steps: readonly unknown[] }).Steps.length === 0);
    expect(planned).toMatchObject({
      Steps: [
        { Op: 'remove', Kind: 'forwarding', Destination: 'wins-subnet' },
        { Op: 'remove', Kind: 'forwarding', Destination: 'wins0' },
        { Op: 'add', Kind: 'filter', Destination: 'wins-subnet egress' },
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
      ...{ State: 'partial', Problems: [expect.stringMatching(/^10\.42\.1\.0\/24: .*iproute2/)] },
    });
    expect(networkOf(host)).toEqual(there);
    const torn = await host.network('teardown');
    expect(torn.Problems).toEqual([expect.stringMatching(/^wins-subnet: .*iproute2/)]);
    expect(host.routes()).not.toContainEqual(expect.stringContaining('10.42.2.0'));
    expect(host.ip('rule show')).toContain('19901');
    await host.run('/bin/umount', '/sbin/tc').outcome;
    expect(await host.network('apply')).toMatchObject({ State: 'settled', Problems: [] });
    expect(networkOf(host)).toEqual(there);
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
    expect(await host.network('apply')).toMatchObject({ State: 'settled' });
    expect(networkOf(host)).toEqual(there);
    await host.killAndStartAgain(() => host.configure({ keep: [] }));
    await host.network('apply').catch(() => undefined);
    expect(networkOf(host)).toEqual(before);
  });
});

inOwnNetwork('containers of three hosts', () => {
  it('reach each other, but no longer containers of a host that has left', async () => {
    await using one = await HostInNetwork.start({
      ...{ ...ownOf(1), peers: [peer(2, '172.16.1.2'), peer(3, '172.16.2.3')] },
    });
    await using two = await HostInNetwork.start({
      ...{ ...ownOf(2), peers: [peer(1, '172.16.1.1'), peer(3, '172.16.3.3')] },
    });
    await using three = await HostInNetwork.start({
      ...{ ...ownOf(3), peers: [peer(1, '172.16.2.1'), peer(2, '172.16.3.2')] },
    });
    connect(one, '172.16.1.1/24', two, '172.16.1.2/24', 'cable1');
    connect(one, '172.16.2.1/24', three, '172.16.2.3/24', 'cable2');
    connect(two, '172.16.3.2/24', three, '172.16.3.3/24', 'cable3');
    for (const host of [one, two, three])
      expect(await host.network('apply')).toMatchObject({ State: 'settled', Problems: [] });
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
      ...[expect.stringMatching(/UNREACH/) as unknown, 'hello'],
    ]);
    expect(one.ip('rule show')).not.toContain('cable2');
    expect([ofB, ofC]).toHaveLength(2);
  });
});
