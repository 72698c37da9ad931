import { hostname, release } from 'node:os';
import { RecordedDaemon, type RecordedCommand } from '@wins/wins-api/testing';
import { runWins, startWins, type Outcome } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeNetwork, startWinsInNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { Workspace } from '../testing/workspace.js';

/** The tests change routes, so they run in a private network. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'changes of routes, since only root may make a network for them',
);

describe('the host calls of the client, with a Go daemon as recorded', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());

  it.each<[RecordedCommand, string, string]>([
    [
      'host-get-version',
      'hst get-version',
      '{"CurrentMajorVersionNumber":"10","CurrentMinorVersionNumber":"0","CurrentBuildNumber":"18362","UBR":"0","CurrentBuild":"18362"}',
    ],
    [
      'network-get',
      'net get',
      '{"InterfaceIndex":"4","GatewayAddress":"192.0.2.1","SubnetCIDR":"192.0.2.0/24","HostName":"vm","AddressCIDR":"192.0.2.2/32"}',
    ],
    ['route-add', 'route add --addresses 8.8.8.8', ''],
  ])('print what the Go client prints: %s', async (command, words, printed) => {
    const address = workspace.path(command);
    await using _daemon = await RecordedDaemon.listen(address, command);
    const args = ['cli', ...words.split(' '), '--server', address];
    const { code, stdout, stderr } = await runWins(args, workspace.environment);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: printed,
      stderr: '',
    });
  });

  it("repeat the daemon's message where there is no HNS", async () => {
    const address = workspace.path('hns');
    await using _daemon = await RecordedDaemon.listen(address, 'hns-get-network-error');
    const args = ['cli', 'hns', 'get-network', '--name', 'nat', '--server', address];
    const { code, stderr } = await runWins(args, workspace.environment);
    expect(code).toBe(125);
    expect(stderr).toMatch(/^wins: could not get HNS network nat [^\n]*\n$/);
  });
});

describe('the host calls', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const cli = (words: string) => runWins(['cli', ...words.split(' ')], workspace.environment);
  const json = ({ stdout }: Outcome): unknown => JSON.parse(stdout.toString());

  it('say which kernel the host has, and need no permission in the config', async () => {
    const outcome = await cli('hst get-version');
    expect(outcome.code).toBe(0);
    expect(json(outcome)).toMatchObject({
      BuildLabEx: expect.stringContaining(release()) as string,
    });
  });

  it('describe an adapter by name and by address, also for people', async () => {
    const loopback = {
      InterfaceIndex: '1',
      SubnetCIDR: '127.0.0.0/8',
      HostName: hostname(),
      AddressCIDR: '127.0.0.1/32',
    };
    expect(json(await cli('net get --name lo'))).toEqual(loopback);
    expect(json(await cli('network get --address 127.0.0.1'))).toEqual(loopback);
    const table = (await cli('net get --name lo -o table')).stdout.toString();
    expect(table).toMatch(/^FIELD +VALUE\n/);
    expect(table).toContain('127.0.0.0/8');
  });

  it('say that an adapter or a network is not there, by text and exit code', async () => {
    const adapter = await cli('net get --name nobody0');
    expect(adapter.code).toBe(127);
    expect(adapter.stderr).toMatch(/^wins: [^\n]*"nobody0"[^\n]*\n$/);
    const network = await cli('hns get-network --name nat');
    expect(network.code).toBe(125);
    expect(network.stderr).toMatch(/^wins: [^\n]*Windows[^\n]*\n$/);
  });
});

inOwnNetwork('the routes of a host', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  beforeAll(async () => {
    const args = ['srv', 'app', 'run', '--config', workspace.config([], GRANTS)];
    const setup = `ip route add ${ELSEWHERE} dev wins0`;
    daemon = Daemon.of(startWinsInNetwork(args, workspace.environment, setup));
    await daemon.ready();
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const route = (...args: string[]) =>
    startWins(['cli', 'route', ...args], workspace.environment).outcome;
  const table = async () =>
    JSON.parse((await route('ls')).stdout.toString()) as Readonly<Record<string, unknown>>[];
  const ADDRESSES = '8.8.8.8 10.1.2.3/16 2001:db8:1::5';
  const ELSEWHERE = '10.77.0.0/16';
  /** Addresses for which scripts on AWS nodes add routes; the last is the IPv6 address of the metadata service. */
  const METADATA = [
    ...[254, 253, 249, 123, 250, 251].map((last) => `169.254.169.${last}`),
    'fd00:ec2::254',
  ];
  const NETWORKS = ['8.8.8.8', '10.0.0.0/8', '2001:db8::/32', '192.0.2.0/24'];
  const GRANTS = { routes: { allow: [...NETWORKS, ...METADATA] } };
  const WANTED = [
    { destinationCidr: '8.8.8.8/32', gateway: '192.0.2.1' },
    { destinationCidr: '10.1.0.0/16', gateway: '192.0.2.1' },
    { destinationCidr: '2001:db8:1::5/128', gateway: '2001:db8::1' },
  ].map((wanted) => expect.objectContaining(wanted) as unknown);

  it('are added and removed idempotently, and nothing else changes', async () => {
    const before = await table();
    expect(before).toContainEqual(
      expect.objectContaining({ destinationCidr: '0.0.0.0/0', gateway: '192.0.2.1' }),
    );
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout, stderr } = await route('add', '--addresses', ADDRESSES);
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      const now = await table();
      expect(now).toEqual(expect.arrayContaining([...before, ...WANTED]));
      expect(now).toHaveLength(before.length + WANTED.length);
    }
    for (let times = 0; times < 2; times += 1) {
      expect((await route('rm', '--addresses', ADDRESSES)).code).toBe(0);
      expect(await table()).toEqual(before);
    }
  });

  it('of others are neither replaced nor removed, and the client is told the reason', async () => {
    const before = await table();
    const { code, stderr } = await route('rm', '--addresses', ELSEWHERE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await table()).toEqual(before);
    const added = await route('add', '--addresses', ELSEWHERE);
    expect(added.code).toBe(125);
    expect(added.stderr).toMatch(/^wins: [^\n]*10\.77\.0\.0\/16[^\n]*directly \(wins0\)[^\n]*\n$/);
    expect(await table()).toEqual(before);
  });

  it('add routes to the metadata of a cloud, address by address, at every start of a node', async () => {
    const before = await table();
    for (let times = 0; times < 2; times += 1) {
      const { code, stderr } = await route('add', '--addresses', METADATA.join(' '));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    const now = await table();
    expect(now).toHaveLength(before.length + METADATA.length);
    for (const address of METADATA.slice(0, -1))
      expect(now).toContainEqual(
        expect.objectContaining({ destinationCidr: `${address}/32`, gateway: '192.0.2.1' }),
      );
    expect((await route('rm', '--addresses', METADATA.join(' '))).code).toBe(0);
    expect(await table()).toEqual(before);

    const others = await route('add', '--addresses', '169.254.169.254 169.254.170.2');
    expect(others.code).toBe(126);
    expect(others.stderr).toMatch(/169\.254\.170\.2\/32 [^\n]*wanted this address itself/);
    const wider = await route('add', '--addresses', '169.254.169.0/24');
    expect(wider.code).toBe(125);
    expect(wider.stderr).toContain('link-local addresses, which can only be routed one by one');
    expect(await table()).toEqual(before);
  });

  it('are refused for networks of the host and its gateway, whatever the config grants', async () => {
    const before = await table();
    for (const verb of ['add', 'rm'])
      for (const own of ['192.0.2.0/24', '192.0.2.128/25', '192.0.2.1', '2001:db8::/64']) {
        const { code, stderr } = await route(verb, '--addresses', own);
        expect(code).toBe(126);
        expect(stderr).toMatch(/^wins: [^\n]*cannot be routed: the host itself is in [^\n]*\n$/);
      }
    expect(await table()).toEqual(before);
  });
});

inOwnNetwork('the routes of a host whose default route has no gateway', () => {
  it('are added and removed, and never the network that the adapter is in', async () => {
    using workspace = new Workspace();
    const routes = { allow: ['8.8.8.8', '192.0.2.0/24', '2001:db8::/32'] };
    const args = ['srv', 'app', 'run', '--config', workspace.config([], { routes })];
    const setup = 'ip route replace default dev wins0; ip -6 route replace default dev wins0';
    await using daemon = Daemon.of(startWinsInNetwork(args, workspace.environment, setup));
    await daemon.ready();
    const route = (...words: string[]) =>
      runWins(['cli', 'route', ...words], workspace.environment);
    const table = async () => JSON.parse((await route('ls')).stdout.toString()) as unknown[];
    const before = await table();

    for (const connected of ['192.0.2.0/24', '2001:db8::/64']) {
      const { code, stderr } = await route('rm', '--addresses', connected);
      expect({ code, stderr }).toMatchObject({
        code: 126,
        stderr: expect.stringContaining(connected) as unknown,
      });
      expect(await table()).toEqual(before);
    }
    const addresses = '8.8.8.8 2001:db8:1::5';
    expect((await route('add', '--addresses', addresses)).code).toBe(0);
    expect(await table()).toHaveLength(before.length + 2);
    expect((await route('rm', '--addresses', addresses)).code).toBe(0);
    expect(await table()).toEqual(before);
  });
});
