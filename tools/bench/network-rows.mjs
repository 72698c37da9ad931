// Benchmarks of host networks: planning routes to many hosts, and applying them in a separate network.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROUNDS } from './measure.mjs';

const PLANNED = '1,000 hosts planned';
const APPLIED = '1,000 routes applied';
/** Creates the interface wins0, whose subnet has the gateways of the routes. */
const SETUP = `set -e
PATH=/usr/sbin:/sbin:/usr/bin:/bin
ip link set lo up
ip link add wins0 type veth peer name wins1
ip addr add 172.16.0.1/16 dev wins0
ip link set wins0 up
ip link set wins1 up
exec "$@"`;
const OPTIONS = ['--user', '--map-root-user', '--net', '/bin/sh', '-c', SETUP, 'sh'];
const mayMakeNetwork = spawnSync('unshare', [...OPTIONS, 'true']).status === 0;

export const networkRows = [PLANNED, ...(mayMakeNetwork ? [APPLIED] : [])];

export function peers(count) {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index),
    subnet: `10.${index >> 8}.${index & 0xff}.0/24`,
    nextHop: `172.16.${1 + (index >> 7)}.${1 + (index & 0x7f)}`,
  }));
}

export async function measureNetwork({ run }) {
  const { plan } = await import('@wins/host-network');
  const desired = { routes: [], peers: peers(1000) };
  const uplink = { id: 'e0', name: 'eth0', metric: 0, addresses: ['172.16.0.1/16'] };
  // Planning without existing routes needs the most work.
  const look = () => plan(desired, { interfaces: [uplink], routes: [] }, []);
  for (let count = 0; count < ROUNDS; count += 1) look();
  value(run, PLANNED, 50, () => {
    // Measure processor time: planning never waits, and other processes would lengthen the wall time.
    const before = process.cpuUsage();
    look();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  value(run, APPLIED, 2000, () => {
    const script = path.join(import.meta.dirname, 'keep-routes.mjs');
    const args = [...OPTIONS, process.execPath, script];
    const { stdout, stderr, status } = spawnSync('unshare', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  });
}

function value(run, name, atMost, measure) {
  if (!networkRows.includes(name) || !run.wants(name)) return;
  const rounds = Array.from({ length: ROUNDS }, () => ({ value: measure() }));
  run.add({ name, unit: 'ms', figure: { is: 'value', atMost } }, [{ name: 'wins', rounds }]);
}
