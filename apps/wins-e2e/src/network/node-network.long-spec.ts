import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { mayMakeNetwork, startInNetwork } from '../testing/network-namespace.js';
import { nodeRelease } from '../testing/node/node-release.js';
import { NodeWorld } from '../testing/node/node-world.js';
import { wherePossible } from '../testing/where-possible.js';
import { Container, dial, flowing, listen, networkOf, ownOf, peer } from './containers.js';
import { inNetworkOf, NSENTER } from './host-in-network.js';

const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'the network of a node, since only root may make one for it',
);

/** A node in its own network, on which specs install `wins`. */
class NodeInNetwork implements AsyncDisposable {
  readonly world = new NodeWorld();
  readonly #holder = startInNetwork(
    ['/bin/sh', '-c', 'echo in; exec sleep 600'],
    {},
    'ip route add 169.254.169.250 via 192.0.2.1 dev wins0 metric 256',
  );
  readonly #programs: RunningProgram[] = [this.#holder];
  readonly #within = inNetworkOf(this.#holder.child);

  static async start(): Promise<NodeInNetwork> {
    const node = new NodeInNetwork();
    await node.#holder.printed('in');
    return node;
  }

  say(command: string, release = this.world.release) {
    return this.world.say([...this.#within, release, command], {}, NSENTER);
  }

  async wins(...words: readonly string[]): Promise<void> {
    const { world } = this;
    const args = [...this.#within, world.release, 'srv', ...words, '--config', world.config];
    const { code, stderr } = await world.wins(args, {}, NSENTER);
    if (code !== 0) throw new Error(stderr);
  }

  run(...command: readonly string[]) {
    const program = startProgram(NSENTER, [...this.#within, ...command], {});
    this.#programs.push(program);
    return program;
  }

  ip(words: string): string {
    const args = [...this.#within, '/sbin/ip', ...words.split(' ')];
    return execFileSync(NSENTER, args, { encoding: 'utf8' });
  }

  async install(hostNetwork: object): Promise<void> {
    expect((await this.say('install')).outcome).toBe('installed');
    appendFileSync(this.world.config, `hostNetwork: ${JSON.stringify(hostNetwork)}\n`);
    await this.wins('config', 'reload');
    await this.wins('network', 'apply');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
    for (const { child } of this.#programs) child.kill('SIGKILL');
    await Promise.all(this.#programs.map(({ outcome }) => outcome));
  }
}

inOwnNetwork('a node with a network of containers', () => {
  it('has its earlier network again, with changes of others, once wins is uninstalled', async () => {
    await using node = await NodeInNetwork.start();
    const before = networkOf(node);
    await node.install({ ...ownOf(1), peers: [peer(2, '192.0.2.7')], keep: ['gce'] });
    expect(networkOf(node).join('\n')).toMatch(/10\.42\.2\.0\/24[^]*wins0 prohibit[^]*wins-subnet/);

    const gone = await node.say('uninstall');
    expect([gone.code, gone.outcome]).toEqual([0, 'uninstalled']);
    // Uninstalling keeps a config that was changed by hand.
    expect(gone.kept?.[0]).toMatch(/^file .*\/config: it was changed after the installation/);
    expect(networkOf(node)).toEqual(before);
  });

  it('keeps it without a gap while the daemon is upgraded', async () => {
    await using node = await NodeInNetwork.start();
    await using other = await Container.start(node, ['172.16.0.7/24', '10.42.2.10/32'], {
      bridge: '',
    });
    node.ip(`addr add 172.16.0.2/24 dev ${other.cable}`);
    other.ip('route add 10.42.1.0/24 via 172.16.0.2 src 10.42.2.10');
    const ports = [{ proto: 'tcp', listen: '192.0.2.2:7070', to: '10.42.1.11:7070' }];
    await node.install({ ...ownOf(1), peers: [peer(2, '172.16.0.7')], keep: ['gce'], ports });
    const gateway = '10.42.1.1';
    await using one = await Container.start(node, ['10.42.1.10/24'], { gateway });
    await using two = await Container.start(node, ['10.42.1.11/24'], { gateway });
    await using published = await listen(two);
    expect(await dial(node, '192.0.2.2')).toEqual(['hello']);
    await using echo = await listen(other);
    const there = networkOf(node);
    const monitor = node.run('/sbin/ip', '-o', 'monitor', 'link', 'address', 'route', 'rule');
    // The monitor misses events until it listens, so cause events until it reports one.
    while (!monitor.stdout().includes('127.0.0.8')) {
      for (const op of ['add', 'del']) node.ip(`addr ${op} 127.0.0.8/32 dev lo`);
      await new Promise(setImmediate);
    }
    await using along = await flowing(one, '10.42.1.11');
    await using away = await flowing(one, '10.42.2.10');

    const { pid } = node.world;
    const said = await node.say('install', nodeRelease(node.world.workspace, 'v1.1.0'));
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect([await node.world.version(), node.world.pid === pid]).toEqual(['v1.1.0', false]);
    await node.wins('network', 'apply');

    expect([await along.end(), await away.end()]).toEqual([[], []]);
    node.ip('addr add 127.0.0.9/32 dev lo');
    await monitor.printed('127.0.0.9');
    // Linux itself causes some events. It adds IPv6 link-local addresses. It also reports the `state UP` of a new container's cable, sometimes a
    // second late.
    const expected =
      /127\.0\.0\.[89]|(?:fe80|ff00)::|: <BROADCAST,MULTICAST,UP,LOWER_UP> .* master wins-subnet state UP |^$/;
    expect(
      monitor
        .stdout()
        .split('\n')
        .filter((line) => !expected.test(line)),
    ).toEqual([]);
    node.ip('addr del 127.0.0.9/32 dev lo');
    expect(networkOf(node)).toEqual(there);
    expect(await dial(node, '192.0.2.2', '10.42.1.11')).toEqual(['hello', 'hello']);
    expect([published, echo]).toHaveLength(2);
  });
});
