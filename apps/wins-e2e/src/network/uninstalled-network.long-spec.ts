import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { NodeWorld } from '../testing/node/node-world.js';
import { mayMakeNetwork, startInNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { networkOf, ownOf, peer } from './containers.js';
import { inNetworkOf, NSENTER } from './host-in-network.js';

const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'the network of a node that is uninstalled, since only root may make one for it',
);

inOwnNetwork('a node with a network of containers', () => {
  it('has the network that it had before, and what others made, once it is uninstalled', async () => {
    await using world = new NodeWorld();
    const holder = startInNetwork(
      ['/bin/sh', '-c', 'echo in; exec sleep 600'],
      {},
      'ip route add 169.254.169.250 via 192.0.2.1 dev wins0 metric 256',
    );
    try {
      await holder.printed('in');
      const within = inNetworkOf(holder.child);
      const say = (...args: readonly string[]) =>
        world.say([...within, world.release, ...args], {}, NSENTER);
      const wins = (...args: readonly string[]) =>
        world.wins([...within, world.release, ...args, '--config', world.config], {}, NSENTER);
      const ip = (words: string) =>
        execFileSync(NSENTER, [...within, '/sbin/ip', ...words.split(' ')], { encoding: 'utf8' });
      const before = networkOf({ ip });

      expect((await say('install')).outcome).toBe('installed');
      const hostNetwork = { ...ownOf(1), peers: [peer(2, '192.0.2.7')], keep: ['gce'] };
      appendFileSync(world.config, `hostNetwork: ${JSON.stringify(hostNetwork)}\n`);
      expect((await wins('srv', 'config', 'reload')).code).toBe(0);
      expect((await wins('srv', 'network', 'apply')).code).toBe(0);
      expect(networkOf({ ip }).join('\n')).toMatch(
        /10\.42\.2\.0\/24[^]*wins0 prohibit[^]*wins-subnet/,
      );

      const gone = await say('uninstall');
      expect([gone.code, gone.outcome]).toEqual([0, 'uninstalled']);
      // The config was changed by hand, and stays for that.
      expect(gone.kept?.[0]).toMatch(/^file .*\/config: it was changed since/);
      expect(networkOf({ ip })).toEqual(before);
    } finally {
      holder.child.kill('SIGKILL');
      await holder.outcome;
    }
  });
});
