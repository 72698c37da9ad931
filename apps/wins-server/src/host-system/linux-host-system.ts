import { readFile } from 'node:fs/promises';
import { endianness, hostname, networkInterfaces, release, version } from 'node:os';
import { HostSystemError } from './host-system-error.js';
import type {
  HnsNetwork,
  HostSystem,
  HostVersion,
  NameOrAddress,
  NetworkAdapter,
  Route,
} from './host-system.js';
import { runIp } from './ip-command.js';
import { findAdapter } from './linux-adapters.js';
import {
  defaultRouteOf,
  parseIpv4Routes,
  parseIpv6Routes,
  type LinuxRoute,
} from './linux-routing-table.js';
import { linuxVersion } from './linux-version.js';
import { parseDestinations } from './route-destinations.js';

/** A route that is wanted: through where the default route of its family leads. */
interface WantedRoute {
  readonly destinationCidr: string;
  readonly through: LinuxRoute;
}

/** The host calls on Linux: `/proc`, `/sys` and, for changes, `ip`. */
export class LinuxHostSystem implements HostSystem {
  async version(): Promise<HostVersion> {
    const osRelease = await readOrNone('/etc/os-release');
    return linuxVersion({ osRelease, kernelRelease: release(), kernelVersion: version() });
  }

  async adapter(which?: NameOrAddress): Promise<NetworkAdapter> {
    const { interfaceName, ...facts } = findAdapter(networkInterfaces(), await readTable(), which);
    const interfaceIndex = String(await indexOf(interfaceName));
    return { ...facts, interfaceIndex, hostName: hostname() };
  }

  hnsNetwork(): Promise<HnsNetwork> {
    const message = 'HNS networks are a thing of Windows; this host runs Linux';
    return Promise.reject(new HostSystemError('unavailable', message));
  }

  async routes(): Promise<readonly Route[]> {
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

  async addRoutes(addresses: readonly string[]): Promise<void> {
    const table = await readTable();
    const wanted = wantedRoutes(addresses, table);
    for (const route of wanted) if (!holds(table, route)) await add(route);
    const now = await readTable();
    const missing = wanted.find((route) => !holds(now, route));
    if (missing !== undefined) throw notVerified(missing, now, 'was added');
  }

  async removeRoutes(addresses: readonly string[]): Promise<void> {
    const table = await readTable();
    const unwanted = wantedRoutes(addresses, table);
    for (const route of unwanted) if (holds(table, route)) await changeRoute('del', route);
    const now = await readTable();
    const left = unwanted.find((route) => holds(now, route));
    if (left !== undefined) throw notVerified(left, now, 'was removed');
  }
}

/** @throws HostSystemError `invalid-argument`, `not-found` when there is no default route of a family. */
function wantedRoutes(
  addresses: readonly string[],
  table: readonly LinuxRoute[],
): readonly WantedRoute[] {
  return parseDestinations(addresses).map(({ cidr, family }) => {
    const through = defaultRouteOf(table, family);
    if (through === undefined) {
      const message = `${cidr} has no way out: there is no default route of ${family}`;
      throw new HostSystemError('not-found', message);
    }
    return { destinationCidr: cidr, through };
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

/** Somebody else may add the same route meanwhile: what the table says at the end decides. */
async function add(route: WantedRoute): Promise<void> {
  try {
    await changeRoute('add', route);
  } catch (error) {
    if (!(error instanceof HostSystemError && /File exists/.test(error.message))) throw error;
  }
}

function changeRoute(
  verb: 'add' | 'del',
  { destinationCidr, through }: WantedRoute,
): Promise<void> {
  const { family, gateway, interfaceName } = through;
  const via = gateway === '' ? [] : ['via', gateway];
  const familyOption = family === 'ipv4' ? '-4' : '-6';
  // Without a gateway the network that the interface is in looks the same, but for who has made it: the kernel.
  const made = verb === 'del' && gateway === '' ? ['proto', 'boot'] : [];
  return runIp([
    familyOption,
    'route',
    verb,
    destinationCidr,
    ...via,
    'dev',
    interfaceName,
    ...made,
  ]);
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
    `the route to ${destinationCidr} through ${through.gateway || through.interfaceName} ${what}, ` +
    `but the table says otherwise: ${shown.join(', ') || 'no such route'}`;
  return new HostSystemError('not-verified', message);
}

async function readTable(): Promise<readonly LinuxRoute[]> {
  const [ipv4, ipv6] = await Promise.all([
    readOrNone('/proc/net/route'),
    readOrNone('/proc/net/ipv6_route'),
  ]);
  return [...parseIpv4Routes(ipv4, endianness()), ...parseIpv6Routes(ipv6)];
}

/** A kernel without IPv6 has no file for it. */
async function readOrNone(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new HostSystemError('unknown', `cannot read ${file}: ${String(error)}`, { cause: error });
  }
}

/** The number of an interface, 0 when it has gone meanwhile. The kernel lets no name hold a slash. */
async function indexOf(interfaceName: string): Promise<number> {
  return Number(await readOrNone(`/sys/class/net/${interfaceName}/ifindex`));
}
