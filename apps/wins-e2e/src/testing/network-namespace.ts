import { spawnSync } from 'node:child_process';
import { startProgram, type RunningProgram } from './built-program.js';
import { WINS } from './workspace.js';

const UNSHARE = '/usr/bin/unshare';
/** Creates a network namespace and a mount namespace. Both end with their last process. */
const OPTIONS = ['--net', '--mount', '/bin/sh', '-c'];

const SETUP = `set -e
PATH=/usr/sbin:/sbin:/usr/bin:/bin
mount -t sysfs sysfs /sys
ip link set lo up
ip link add wins0 type veth peer name wins1
ip link set wins1 up
ip addr add 192.0.2.2/24 dev wins0
ip -6 addr add 2001:db8::2/64 dev wins0 nodad
ip link set wins0 up
ip route add default via 192.0.2.1 dev wins0
ip -6 route add default via 2001:db8::1 dev wins0
`;

export function mayMakeNetwork(): boolean {
  return spawnSync(UNSHARE, [...OPTIONS, SETUP], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts `wins` in its own network: wins0 has 192.0.2.2 and 2001:db8::2, with the gateways 192.0.2.1 and 2001:db8::1.
 *
 * @param more - Shell commands that run in the network before `wins`.
 */
export function startWinsInNetwork(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  more = '',
): RunningProgram {
  return startInNetwork([process.execPath, WINS, ...args], environment, more);
}

export function startInNetwork(
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  more = '',
): RunningProgram {
  const script = `${SETUP}\n${more}\nexec "$@"`;
  return startProgram(UNSHARE, [...OPTIONS, script, 'sh', ...command], environment);
}
