import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS } from '../testing/workspace.js';
import { answerers, Container, flowing, listen } from './containers.js';
import { HostInNetwork } from './host-in-network.js';

/** Bridges: `lan` is the host's network adapter, with two addresses, and `pods` connects its containers. */
const BRIDGES = `
for bridge in lan pods; do ip link add $bridge type bridge; ip link set $bridge up; done
ip addr add 172.16.0.2/24 dev lan
ip addr add 172.16.0.77/24 dev lan
ip addr add 10.42.1.1/24 dev pods
`;
const POD = '10.42.1.10';
const relay = { proto: 'udp', listen: '0.0.0.0:7070', to: `${POD}:7070` };

interface PortStanding {
  readonly state: string;
  readonly detail: string;
}

const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'UDP ports on hosts with several addresses, since only root may make hosts for them',
);
const both = (address: string) => `${address} ${address}`;

inOwnNetwork('a UDP port on all addresses', () => {
  const start = (ports: readonly object[] = [relay]) => HostInNetwork.start({ ports }, BRIDGES);
  const startPod = (host: HostInNetwork) =>
    Container.start(host, [`${POD}/24`], { gateway: '10.42.1.1', bridge: 'pods' });
  const startClient = (host: HostInNetwork, ...more: readonly string[]) =>
    Container.start(host, ['172.16.0.9/24', ...more], { bridge: 'lan' });
  async function standing(host: HostInNetwork, ...words: string[]): Promise<PortStanding> {
    const { ports } = await host.network<{ readonly ports: readonly PortStanding[] }>(...words);
    const [first] = ports;
    if (first === undefined) throw new Error('there is no port');
    return first;
  }
  async function reload(host: HostInNetwork, config: object = { hostNetwork: { ports: [relay] } }) {
    const file = host.workspace.config([], config);
    const { code, stderr } = await host.wins('srv', 'config', 'reload', '--config', file);
    if (code !== 0) throw new Error(stderr);
  }
  /** Starts a program that owns UDP port 7070 of the address, or ends with an error code. */
  const owner = (host: HostInNetwork, address: string) => {
    const script = `require("dgram").createSocket("udp4").on("error", ({ code }) => { console.log(code); process.exit(); })
      .bind({ port: 7070, address: ${JSON.stringify(address)}, exclusive: true }, () => console.log("owns"))`;
    return host.run(process.execPath, '-e', script);
  };

  it('answers from the address that was asked, also a container that asks for an address of its node', async () => {
    await using host = await start();
    await using pod = await startPod(host);
    await using _echo = await listen(pod);
    await using client = await startClient(host);
    const addresses = ['172.16.0.2', '172.16.0.77'];
    expect(await answerers(client, ...addresses)).toEqual(addresses.map(both));
    expect(await answerers(pod, ...addresses, '10.42.1.1')).toEqual(
      [...addresses, '10.42.1.1'].map(both),
    );
    expect(await answerers(host, '127.0.0.1', '172.16.0.77')).toEqual(
      ['127.0.0.1', '172.16.0.77'].map(both),
    );
  });

  it('follows the addresses of the host, and the flows of other addresses go on', async () => {
    await using host = await start();
    await using pod = await startPod(host);
    await using _echo = await listen(pod);
    await using client = await startClient(host);
    await using flow = await flowing(client, '172.16.0.2');
    host.ip('addr add 172.16.0.78/24 dev lan');
    expect(await answerers(client, '172.16.0.78')).toEqual([both('172.16.0.78')]);
    for (let again = 0; again < 3; again += 1) {
      host.ip('addr del 172.16.0.77/24 dev lan');
      host.ip('addr add 172.16.0.77/24 dev lan');
    }
    host.ip('addr del 172.16.0.78/24 dev lan');
    expect(await answerers(client, '172.16.0.77')).toEqual([both('172.16.0.77')]);
    host.ip('addr add 172.16.0.78/24 dev lan');
    expect(await answerers(client, '172.16.0.78')).toEqual([both('172.16.0.78')]);
    expect(await flow.end()).toEqual([]);
    host.ip('link del lan');
    host.ip('link add lan type bridge');
    host.ip('link set lan up');
    for (const address of ['172.16.0.2/24', '172.16.0.77/24'])
      host.ip(`addr add ${address} dev lan`);
    host.ip(`link set ${client.cable} master lan`);
    expect(await answerers(client, '172.16.0.77')).toEqual([both('172.16.0.77')]);
    expect((await standing(host, 'status')).detail).toBe('');
  });

  it('is reached at the other addresses if a program listens at one, and at this one when the program ends', async () => {
    await using host = await start([]);
    await using pod = await startPod(host);
    await using _echo = await listen(pod);
    const program = owner(host, '172.16.0.77');
    await program.printed('owns');
    await reload(host);
    expect(await answerers(pod, '172.16.0.2')).toEqual([both('172.16.0.2')]);
    const detail = 'cannot listen on 172.16.0.77 port 7070: another program listens there';
    expect(await standing(host, 'status')).toMatchObject({ state: 'listening', detail });
    const doctor = await host.wins('doctor', '--config', host.workspace.path('config'));
    expect(doctor.stdout.toString()).toContain(`is not reached everywhere: ${detail}`);
    program.child.kill();
    await program.outcome;
    await standing(host, 'apply');
    expect(await standing(host, 'status')).toMatchObject({ state: 'listening', detail: '' });
    expect(await answerers(pod, '172.16.0.77')).toEqual([both('172.16.0.77')]);
  });

  it('has one owner: no other program gets all addresses, and a relay of a taken port is busy', async () => {
    await using host = await start();
    const late = owner(host, '0.0.0.0');
    await late.printed('EADDRINUSE');
    await reload(host, { hostNetwork: { ports: [] } });
    const early = owner(host, '0.0.0.0');
    await early.printed('owns');
    await reload(host);
    expect(await standing(host, 'status')).toMatchObject({
      state: 'busy',
      detail: 'cannot listen on 0.0.0.0 port 7070: another program listens there',
    });
    early.child.kill();
    await early.outcome;
  });

  it('of wins cli proxy answers from the address that was asked, of IPv4 and of IPv6', async () => {
    await using host = await start([]);
    await using _echo = await listen(host);
    const white_list = { proxyUdpPorts: [7070] };
    await reload(host, { hostNetwork: { ports: [] }, white_list });
    await using container = await Container.start(host, ['10.42.1.2/24', '10.42.1.77/24'], {
      bridge: 'pods',
    });
    await using client = await Container.start(host, ['10.42.1.9/24'], { bridge: 'pods' });
    for (const [one, address] of [
      [container, 'fd00::2'],
      [container, 'fd00::77'],
      [client, 'fd00::9'],
    ] as const)
      one.ip(`addr add ${address}/64 dev eth0 nodad`);
    const environment = Object.entries(host.workspace.environment).map(
      ([name, value]) => `${name}=${value}`,
    );
    const proxy = container.run(
      '/usr/bin/env',
      ...environment,
      process.execPath,
      WINS,
      'cli',
      'proxy',
      '--publish',
      'UDP:7070',
    );
    await proxy.said('the tunnel is ready');
    const addresses = ['10.42.1.2', '10.42.1.77', 'fd00::2', 'fd00::77'];
    expect(await answerers(client, ...addresses)).toEqual(addresses.map(both));
    container.ip('addr add 10.42.1.78/24 dev eth0');
    expect(await answerers(client, '10.42.1.78')).toEqual([both('10.42.1.78')]);
    const [, linkLocal = ''] = /inet6 (fe80:\S+)\/64/.exec(container.ip('-6 addr show eth0')) ?? [];
    expect(await answerers(client, `${linkLocal}%eth0`)).toEqual([both(`${linkLocal}%eth0`)]);
    proxy.child.kill();
    await proxy.outcome;
  });
});
