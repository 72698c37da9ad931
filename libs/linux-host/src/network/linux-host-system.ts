import {
  errnoOf,
  formatNetwork,
  readRouteDestinations,
  type HostSystem,
  type RouteEntry,
} from '@wins/base';
import { readFile } from 'node:fs/promises';
import { endianness, hostname, networkInterfaces, release, version } from 'node:os';
import { LinuxError } from '../linux-error.js';
import { runIp } from './ip-command.js';
import { findAdapter } from './linux-adapters.js';
import {
  defaultRouteOf,
  parseIpv4Routes,
  parseIpv6Routes,
  type LinuxRoute,
} from './linux-routing-table.js';
import { linuxVersion } from './linux-version.js';

/** Uses `/proc`, `/sys` and, for changes, `ip`. Throws LinuxError; `unavailable` without iproute2. */
export function linuxHostSystem(): HostSystem {
  return {
    version: async () => {
      const osRelease = await readOrNone('/etc/os-release');
      return linuxVersion({ osRelease, kernelRelease: release(), kernelVersion: version() });
    },
    adapter: async (which) => {
      const table = await readTable();
      const { interfaceName, ...facts } = findAdapter(networkInterfaces(), table, which);
      const interfaceIndex = String(await indexOf(interfaceName));
      return { ...facts, interfaceIndex, hostName: hostname() };
    },
    hnsNetwork: () => {
      const message = 'HNS networks exist only on Windows; this host runs Linux';
      return Promise.reject(new LinuxError('unavailable', message));
    },
    routes,
    addRoutes: (addresses) => change('add', addresses),
    removeRoutes: (addresses) => change('del', addresses),
  };
}

async function routes(): Promise<readonly RouteEntry[]> {
  const table = await readTable();
  const indexes = new Map<string, number>();
  for (const { interfaceName } of table) {
    if (!indexes.has(interfaceName)) indexes.set(interfaceName, await indexOf(interfaceName));
  }
  return table.map(({ destinationCidr, gateway, interfaceName, metric }) => {
    const interfaceIndex = indexes.get(interfaceName) ?? 0;
    return { destinationCidr, gateway, interfaceIndex, metric };
  });
}

async function change(verb: 'add' | 'del', addresses: readonly string[]): Promise<void> {
  const table = await readTable();
  const routes = wantedRoutes(addresses, table);
  const isDone = (now: readonly LinuxRoute[], route: WantedRoute): boolean =>
    holds(now, route) === (verb === 'add');
  for (const route of routes) if (!isDone(table, route)) await changeRoute(verb, route);
  const now = await readTable();
  const failed = routes.find((route) => !isDone(now, route));
  if (failed !== undefined) throw notVerified(failed, now, verb === 'add' ? 'added' : 'removed');
}

/** A desired route. Its next hop is that of `through`, the default route of the same address family. */
interface WantedRoute {
  readonly destinationCidr: string;
  readonly through: LinuxRoute;
}

/** @throws LinuxError `invalidArgument`; `notFound` when an address family has no default route. */
function wantedRoutes(
  addresses: readonly string[],
  table: readonly LinuxRoute[],
): readonly WantedRoute[] {
  const read = readRouteDestinations(addresses);
  if ('refused' in read) throw new LinuxError('invalidArgument', read.refused);
  return read.networks.map((network) => {
    const destinationCidr = formatNetwork(network);
    const family = network.bytes.length === 4 ? 'ipv4' : 'ipv6';
    const usable = table.filter(({ isOverIpv6 }) => isOverIpv6 !== true);
    const through = defaultRouteOf(usable, family);
    if (through === undefined) {
      const all = `there is no default route of ${family}`;
      const found = usable.length < table.length ? `${all} to a gateway of its own family` : all;
      throw new LinuxError('notFound', `cannot route ${destinationCidr}: ${found}`);
    }
    return { destinationCidr, through };
  });
}

function holds(table: readonly LinuxRoute[], { destinationCidr, through }: WantedRoute): boolean {
  return table.some(
    (route) =>
      route.destinationCidr === destinationCidr &&
      route.gateway === through.gateway &&
      route.interfaceName === through.interfaceName,
  );
}

async function changeRoute(
  verb: 'add' | 'del',
  { destinationCidr, through }: WantedRoute,
): Promise<void> {
  const { family, gateway, interfaceName } = through;
  const via = gateway === '' ? [] : ['via', gateway];
  const familyOption = family === 'ipv4' ? '-4' : '-6';
  // The kernel's own route to the interface's network has no gateway. `proto boot` keeps `ip` from deleting that route.
  const made = verb === 'del' && gateway === '' ? ['proto', 'boot'] : [];
  const rest = [destinationCidr, ...via, 'dev', interfaceName, ...made];
  const run = (...more: readonly string[]) =>
    runIp([familyOption, 'route', verb, ...rest, ...more]).catch((error: unknown) => {
      // Another program may add the same route meanwhile; the final check of the table decides.
      if (verb === 'del' || !says(error, /File exists/)) throw error;
    });
  try {
    await run();
  } catch (error) {
    if (verb === 'del' || gateway === '' || !says(error, UNREACHED)) throw error;
    // The default route has `onlink`: no other route leads to its gateway.
    await run('onlink');
  }
}

/** Messages of the kernel, by its version, for a gateway to which no route leads. */
const UNREACHED = /invalid gateway|Network is unreachable|No route to host/;

function says(error: unknown, what: RegExp): boolean {
  return error instanceof LinuxError && what.test(error.message);
}

function notVerified(
  { destinationCidr, through }: WantedRoute,
  table: readonly LinuxRoute[],
  what: string,
) {
  const found = table.filter((route) => route.destinationCidr === destinationCidr);
  const shown = found.map(
    ({ gateway, interfaceName }) => `${gateway || 'directly'} (${interfaceName})`,
  );
  const message =
    `the route to ${destinationCidr} through ${through.gateway || through.interfaceName} was ${what}, ` +
    `but the routing table has ${shown.join(', ') || 'no such route'}`;
  return new LinuxError('notVerified', message);
}

async function readTable(): Promise<readonly LinuxRoute[]> {
  const [ipv4, ipv6] = await Promise.all([
    readOrNone('/proc/net/route'),
    readOrNone('/proc/net/ipv6_route'),
  ]);
  return [...parseIpv4Routes(ipv4, endianness()), ...parseIpv6Routes(ipv6)];
}

/** Returns an empty text for a missing file: without IPv6 there is no `ipv6_route`. */
async function readOrNone(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw new LinuxError('unknown', `cannot read ${file}: ${String(error)}`, { cause: error });
  }
}

/** Returns 0 when the interface was removed meanwhile. The path is safe: the kernel allows no slash in a name. */
async function indexOf(interfaceName: string): Promise<number> {
  return Number(await readOrNone(`/sys/class/net/${interfaceName}/ifindex`));
}
