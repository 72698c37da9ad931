import { linuxHostSystem } from '@wins/linux-host';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hostSystemContract } from './testing/host-system-contract.js';

const UNSHARE = '/usr/bin/unshare';
/** New network and mount namespaces, so that /sys shows only the new network. */
const OPTIONS = ['--net', '--mount', '/bin/sh', '-c'];
/** One adapter with an address and a default route. */
const SETUP = `set -e
PATH=/usr/sbin:/sbin:/usr/bin:/bin
mount -t sysfs sysfs /sys
ip link set lo up
ip link add wins0 type veth peer name wins1
ip link set wins1 up
ip addr add 192.0.2.2/24 dev wins0
ip link set wins0 up
ip route add default via 192.0.2.1 dev wins0
`;

/** Tests that change routes need a network namespace of their own. */
const mayMakeNetwork =
  process.platform === 'linux' &&
  spawnSync(UNSHARE, [...OPTIONS, SETUP], { stdio: 'ignore' }).status === 0;
const inOwnNetwork = mayMakeNetwork ? describe : describe.skip;
if (!mayMakeNetwork)
  process.stderr.write('SKIPPED: the host system of Linux, since only root may make a network\n');

inOwnNetwork('the host system of Linux', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-network-'));
  let outcomes: Readonly<Record<string, string>> = {};

  beforeAll(() => {
    const program = path.join(folder, 'contract.cjs');
    execFileSync(require.resolve('esbuild/bin/esbuild'), [
      path.join(__dirname, '../../testing/linux-host-system-contract.ts'),
      '--bundle',
      '--platform=node',
      '--conditions=@wins/source',
      '--external:koffi',
      '--log-level=warning',
      `--outfile=${program}`,
    ]);
    const script = `${SETUP}\nexec "$@"`;
    const args = [...OPTIONS, script, 'sh', process.execPath, program];
    outcomes = JSON.parse(execFileSync(UNSHARE, args, { encoding: 'utf8' })) as typeof outcomes;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const names = hostSystemContract({ system: linuxHostSystem(), changesRoutes: true });
  it.each(names)('%s', (name) => expect(outcomes[name]).toBe('passed'));
});
