import { spawnSync } from 'node:child_process';
import { startProgram, type RunningProgram } from './built-program.js';
import { WINS } from './workspace.js';

const UNSHARE = '/usr/bin/unshare';
/** A network and the view of /sys that belongs to it, which end with the last process in them. */
const OPTIONS = ['--net', '--mount', '/bin/sh', '-c'];

/** One adapter with an address and a default route of both families. */
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

/** Whether this user may make a network of his own, and has the tools for it. */
export function mayMakeNetwork(): boolean {
  return spawnSync(UNSHARE, [...OPTIONS, SETUP], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts `wins` in a network of its own: wins0 has 192.0.2.2 and 2001:db8::2, gateways are .1 and ::1.
 *
 * @param more - Commands of the shell that change that network before.
 */
export function startWinsInNetwork(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  more = '',
): RunningProgram {
  return startInNetwork([process.execPath, WINS, ...args], environment, more);
}

/** Starts a program in such a network. */
export function startInNetwork(
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  more = '',
): RunningProgram {
  const script = `${SETUP}\n${more}\nexec "$@"`;
  return startProgram(UNSHARE, [...OPTIONS, script, 'sh', ...command], environment);
}
