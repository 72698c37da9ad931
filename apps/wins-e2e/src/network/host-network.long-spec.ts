import { existsSync, rmSync, writeFileSync, symlinkSync } from 'node:fs';
import type { LogRecord } from '../testing/daemon.js';
import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { connect, HostInNetwork, type NetworkStatus } from './host-in-network.js';

/** The tests change routes, so they run in a private network. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'routes that the daemon keeps, since only root may make a network for them',
);

const PEER = { destination: '10.42.1.0/24', gateway: '192.0.2.7' };
const LINE = '10.42.1.0/24 via 192.0.2.7 dev wins0 proto 199 metric 256';
const isChange = (record: { readonly msg: string }) =>
  record.msg === 'routes of the host are changed';
const states = ({ routes }: NetworkStatus) =>
  Object.fromEntries(routes.map(({ destination, state }) => [destination, state]));

inOwnNetwork('the network of a host', () => {
  it('has the routes that the config wants, and comes back to what it was without the section', async () => {
    await using host = await HostInNetwork.start(undefined, 'ip route add 10.77.0.0/16 dev wins0');
    const before = host.routes();
    expect(await host.network('status')).toMatchObject({ on: false });

    host.configure({ routes: [PEER], keep: ['aws', 'gce'] });
    expect((await host.wins('srv', 'config', 'reload')).code).toBe(0);
    const status = await host.network('apply');
    expect(status).toMatchObject({ state: 'settled', problems: [], orphans: [] });
    expect(new Set(Object.values(states(status)))).toEqual(new Set(['applied']));
    expect(host.routes()).toEqual(expect.arrayContaining([...before, LINE]));
    expect(host.routes()).toContain('169.254.169.254 via 192.0.2.1 dev wins0 proto 199 metric 256');
    expect(host.routes()).toHaveLength(before.length + 7);
    expect(await host.network('plan')).toEqual({ on: true, steps: [], isLimited: false });

    host.configure(undefined);
    const isBare = ({ msg, applied }: LogRecord): boolean =>
      msg === 'the network of the host' && applied === undefined;
    // Without `--allow-drop`, a reload refuses to drop a section in use.
    expect((await host.wins('srv', 'config', 'reload')).code).not.toBe(0);
    const drop = ['--allow-drop', 'hostNetwork'];
    await host.logs(isBare, () => host.wins('srv', 'config', 'reload', ...drop));
    expect(host.routes()).toEqual(before);
  });

  it('has a route again within 5 s after somebody removed it', async () => {
    await using host = await HostInNetwork.start({ routes: [PEER] });
    await host.network('apply');
    const removedAt = Date.now();
    await host.logs(isChange, () => host.ip('route del 10.42.1.0/24'));
    expect(Date.now() - removedAt).toBeLessThan(5000);
    await host.network('apply');
    expect(host.routes()).toContain(LINE);
  });

  it('keeps routes of others: equivalent, conflicting and changed ones', async () => {
    const setup = [
      'ip route add 10.42.1.0/24 via 192.0.2.7 dev wins0',
      'ip route add 10.42.2.0/24 via 192.0.2.8 dev wins0 metric 256',
      'ip route add 169.254.169.254/32 via 192.0.2.9 dev wins0',
    ];
    const routes = [
      PEER,
      { ...PEER, destination: '10.42.2.0/24' },
      { ...PEER, destination: '10.42.3.0/24' },
      { destination: '192.0.2.128/25' },
    ];
    await using host = await HostInNetwork.start({ routes, keep: ['azure'] }, setup.join('\n'));
    expect(states(await host.network('apply'))).toEqual({
      '10.42.1.0/24': 'foreign',
      '10.42.2.0/24': 'conflict',
      '10.42.3.0/24': 'applied',
      '168.63.129.16/32': 'applied',
      '169.254.169.254/32': 'applied',
      '192.0.2.128/25': 'rejected',
    });
    const changed = '10.42.3.0/24 via 192.0.2.7 dev wins0';
    // In this order, the daemon never sees the destination without a route, which it would add.
    host.ip(`route add ${changed}`);
    host.ip('route del 10.42.3.0/24 metric 256');
    expect(states(await host.network('apply'))).toMatchObject({ '10.42.3.0/24': 'foreign' });
    await host.network('teardown');
    expect(host.routes().filter((line) => line.includes('via'))).toEqual(
      [
        '10.42.1.0/24 via 192.0.2.7 dev wins0',
        '10.42.2.0/24 via 192.0.2.8 dev wins0 metric 256',
        changed,
        '169.254.169.254 via 192.0.2.9 dev wins0',
        'default via 192.0.2.1 dev wins0',
      ].sort(),
    );

    const { stdout } = await host.wins('doctor', '--config', host.workspace.path('config'));
    expect(stdout.toString()).toMatch(/host network[^\n]*torn down by hand/);
    await host.network('apply');
    const doctor = await host.wins('doctor', '--config', host.workspace.path('config'));
    expect(doctor.stdout.toString()).toMatch(/10\.42\.2\.0\/24: a route of another program/);
    expect(doctor.stdout.toString()).toMatch(/192\.0\.2\.128\/25: the host itself is in/);
  });

  it('waits for an interface, keeps its routes while the next hop is away, and follows another gateway', async () => {
    await using host = await HostInNetwork.start({
      routes: [{ destination: '10.50.0.0/16', gateway: '172.16.5.3' }],
      keep: ['gce'],
    });
    expect(states(await host.network('apply'))).toEqual({
      '10.50.0.0/16': 'waiting',
      '169.254.169.254/32': 'applied',
    });
    await host.logs(isChange, () => {
      host.ip('link add late0 type veth peer name late1');
      host.ip('addr add 172.16.5.2/24 dev late0');
      host.ip('link set late1 up');
      host.ip('link set late0 up');
    });
    host.ip('route del default');
    expect(states(await host.network('apply'))).toEqual({
      '10.50.0.0/16': 'applied',
      '169.254.169.254/32': 'applied',
    });
    host.ip('route add default via 172.16.5.1 dev late0');
    await host.network('apply');
    const metadata = host.routes().filter((line) => line.startsWith('169.254.169.254'));
    expect(metadata).toEqual(['169.254.169.254 via 172.16.5.1 dev late0 proto 199 metric 256']);
  });

  it('follows an uplink that goes down, comes back under another index, and gets another name', async () => {
    const routes = [PEER, { destination: '10.50.0.0/16', gateway: '172.16.5.3' }];
    await using host = await HostInNetwork.start({ routes });
    const ip = (...all: readonly string[]) => all.forEach((words) => host.ip(words));
    const plugIn = [
      'link add late0 type veth peer name late1',
      'addr add 172.16.5.2/24 dev late0',
      'link set late1 up',
      'link set late0 up',
    ];
    const index = () => /^\d+/.exec(host.ip('-o link show late0'))?.[0];
    const led = async () => {
      const { '10.50.0.0/16': state } = states(await host.network('apply'));
      const ours = host.routes().filter((line) => line.includes('proto 199'));
      expect(ours).toContain(LINE);
      return [state, ...ours.filter((line) => line !== LINE)];
    };
    const through = (name: string) => [
      'applied',
      `10.50.0.0/16 via 172.16.5.3 dev ${name} proto 199 metric 256`,
    ];
    ip(...plugIn);
    expect(await led()).toEqual(through('late0'));
    ip('link set late0 down');
    expect(await led()).toEqual(['waiting']);
    const before = index();
    ip('link del late0', ...plugIn);
    expect(index()).not.toBe(before);
    expect(await led()).toEqual(through('late0'));
    ip('link set late0 down', 'link set late0 name late9', 'link set late9 up');
    expect(await led()).toEqual(through('late9'));
  });

  it('is the same after a daemon was killed, and nothing is removed without the record', async () => {
    await using host = await HostInNetwork.start({ routes: [PEER] });
    await host.network('apply');
    const there = host.routes();
    await host.killAndStartAgain();
    expect(states(await host.network('apply'))).toEqual({ '10.42.1.0/24': 'applied' });
    expect(host.routes()).toEqual(there);

    expect(existsSync(host.recordFile)).toBe(true);
    await host.killAndStartAgain(() => {
      rmSync(host.recordFile);
      host.configure({ keep: ['gce'] });
    });
    const status = await host.network('apply');
    expect(status).toMatchObject({ orphans: ['10.42.1.0/24'] });
    expect(host.routes()).toContain(LINE);
    await host.network('teardown');
    expect(host.routes()).toEqual(there);
  });

  it.each<[string, (file: string, elsewhere: string) => void]>([
    ['half of one', (file) => writeFileSync(file, '{"format":1,"boot":"')],
    ['of another boot', (file) => writeFileSync(file, '{"format":1,"boot":"x","routes":[]}')],
    [
      'a link',
      (file, elsewhere) => {
        writeFileSync(elsewhere, '{"format":1,"boot":"x","routes":[]}');
        symlinkSync(elsewhere, file);
      },
    ],
  ])('owns nothing by a record that is %s', async (_what, forge) => {
    await using host = await HostInNetwork.start({ routes: [PEER] });
    await host.network('apply');
    await host.killAndStartAgain(() => {
      const file = host.recordFile;
      rmSync(file);
      forge(file, host.workspace.path('elsewhere'));
      host.configure({ keep: ['gce'] });
    });
    await host.network('apply');
    expect(host.routes()).toContain(LINE);
  });

  it('can be taken down repeatedly, after a dry run that changes nothing', async () => {
    await using host = await HostInNetwork.start({ routes: [PEER] });
    await host.network('apply');
    const there = host.routes();
    const planned = await host.network<{ steps: readonly object[] }>('teardown', '--dry-run');
    expect(planned.steps).toMatchObject([{ op: 'remove', route: { destination: '10.42.1.0/24' } }]);
    expect(host.routes()).toEqual(there);
    for (let times = 0; times < 2; times += 1) {
      expect(await host.network('teardown')).toMatchObject({ down: true, routes: [] });
      expect(host.routes()).not.toContain(LINE);
      expect(existsSync(host.recordFile)).toBe(false);
    }
    expect(await host.network('apply')).toMatchObject({ down: false });
    expect(host.routes()).toEqual(there);
  });

  it('tells of its changes in the audit log, and of its state in the events', async () => {
    await using host = await HostInNetwork.start({ routes: [PEER] });
    await host.network('apply');
    await host.network('teardown');
    const on = ['--config', host.workspace.path('config')];
    const audit = await host.wins('srv', 'audit', 'show', ...on);
    expect(audit.stdout.toString()).toMatch(
      /hostNetworkChange +allowed +config +name="add 10\.42\.1\.0\/24"/,
    );
    expect(audit.stdout.toString()).toMatch(/hostNetworkTeardown +allowed +admin:/);
    const events = await host.wins('srv', 'events', ...on, '-o', 'json');
    expect(events.stdout.toString()).toMatch(/"hostNetworkChanged"/);
  });
});

inOwnNetwork('two hosts with a route to each other', () => {
  const LISTEN =
    'require("net").createServer((socket) => socket.end("hello")).listen(7070, "10.42.2.1", () => console.log("listens"))';
  const DIAL =
    'require("net").connect({ host: "10.42.2.1", port: 7070, localAddress: "10.42.1.1" }).on("error", (error) => console.log(error.code)).pipe(process.stdout)';

  it('reach the addresses of each other, and no more once the route is gone', async () => {
    const to = (destination: string, gateway: string) => ({ routes: [{ destination, gateway }] });
    await using one = await HostInNetwork.start(to('10.42.2.0/24', '172.16.0.3'));
    await using other = await HostInNetwork.start(to('10.42.1.0/24', '172.16.0.2'));
    one.ip('addr add 10.42.1.1/32 dev lo');
    other.ip('addr add 10.42.2.1/32 dev lo');
    connect(one, '172.16.0.2/24', other, '172.16.0.3/24');
    for (const host of [one, other])
      expect(Object.values(states(await host.network('apply')))).toEqual(['applied']);

    const listener = other.run(process.execPath, '-e', LISTEN);
    await listener.printed('listens');
    const dialled = await one.run(process.execPath, '-e', DIAL).outcome;
    expect(dialled.stdout.toString()).toBe('hello');

    one.ip('route del default');
    await one.network('teardown');
    const refused = await one.run(process.execPath, '-e', DIAL).outcome;
    expect(refused.stdout.toString()).toBe('ENETUNREACH\n');
    listener.child.kill();
    await listener.outcome;
  });
});

inOwnNetwork('three hosts with routes to each other', () => {
  it('lose the route to a host that leaves, only once, and keep every other route', async () => {
    const to = (...peers: readonly (readonly [number, string])[]) => ({
      routes: peers.map(([host, gateway]) => ({ destination: `10.42.${host}.0/24`, gateway })),
    });
    await using one = await HostInNetwork.start(to([2, '172.16.1.2'], [3, '172.16.2.3']));
    await using two = await HostInNetwork.start(to([1, '172.16.1.1'], [3, '172.16.3.3']));
    await using three = await HostInNetwork.start(to([1, '172.16.2.1'], [2, '172.16.3.2']));
    connect(one, '172.16.1.1/24', two, '172.16.1.2/24', 'cable1');
    connect(one, '172.16.2.1/24', three, '172.16.2.3/24', 'cable2');
    connect(two, '172.16.3.2/24', three, '172.16.3.3/24', 'cable3');
    for (const host of [one, two, three])
      expect(Object.values(states(await host.network('apply')))).toEqual(['applied', 'applied']);
    const lookup = (host: HostInNetwork, address: string) => host.ip(`-4 route get ${address}`);
    expect(lookup(one, '10.42.3.9')).toMatch(/via 172\.16\.2\.3 dev cable2/);
    expect(lookup(three, '10.42.2.9')).toMatch(/via 172\.16\.3\.2 dev cable3/);

    const monitor = one.run('/sbin/ip', '-4', 'monitor', 'route');
    one.configure(to([2, '172.16.1.2']));
    await one.logs(isChange, () => one.wins('srv', 'config', 'reload'));
    await one.network('apply');
    one.ip('route add 203.0.113.7/32 via 192.0.2.1 dev wins0');
    await monitor.printed('203.0.113.7');
    monitor.child.kill();
    await monitor.outcome;
    expect(
      monitor
        .stdout()
        .split('\n')
        .filter((line) => line.includes('10.42.')),
    ).toEqual([expect.stringMatching(/^Deleted 10\.42\.3\.0\/24 via 172\.16\.2\.3 dev cable2/)]);
  });
});
