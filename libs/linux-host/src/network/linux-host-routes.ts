import {
  networkIdentity,
  reporter,
  type HostRoutes,
  type ListedRoute,
  type NetworkChange,
  type RouteChange,
  type RouteInterface,
  type RouteOutcome,
} from '@wins/base';
import { networkInterfaces } from 'node:os';
import { followIp, isDenial, runIp, runIpLines } from './ip-command.js';
import { changeItem, listItems, PROTOCOL } from './linux-network-items.js';
import { needsNextHops, parseRoutes } from './parse-routes.js';

const LIST = ['-j', '-N', '-4', 'route', 'show', 'table', 'main'];
const LIST_NEXT_HOPS = ['-j', '-N', 'nexthop', 'show'];
/** Includes links and addresses, because routes may wait for them. The rules and `netconf` (forwarding) are for the container network. */
const WATCH = ['monitor', 'link', 'address', 'route', 'rule', 'netconf'];
/** Interface names that can stand in a batch of `ip` without quotes. `interfacesOf` omits interfaces with other names. */
const PLAIN_NAME = /^[^\s/"'\\#;]{1,15}$/;

/** Uses `ip`. Rejects with LinuxError: `unavailable` without iproute2. */
export function linuxHostRoutes(): HostRoutes {
  const bootMark = (): string => networkIdentity() ?? '';
  return {
    bootMark,
    isThisBoot: (mark) => mark !== '' && mark === bootMark(),
    list: async (withItems) => {
      const interfaces = interfacesOf(networkInterfaces());
      const named = interfaces.filter(({ addresses }) => addresses.length > 0);
      const [routes, items] = await Promise.all([
        listRoutes(),
        withItems
          ? listItems(named.map(({ name }) => name)).then(
              (found) => ({ items: found }),
              (itemsError: unknown) => ({ itemsError }),
            )
          : {},
      ]);
      return { interfaces, routes, ...items };
    },
    change: async (changes) => {
      const outcomes = new Map<NetworkChange, RouteOutcome>();
      for (const one of changes) if ('item' in one) outcomes.set(one, await changeItem(one));
      const routes = changes.filter((one) => 'route' in one);
      const said = routes.length === 0 ? [] : await runIpLines(routes.map(wordsOf));
      for (const [index, one] of routes.entries())
        outcomes.set(one, outcomeOf(one.op, said[index]));
      return changes.flatMap((one) => outcomes.get(one) ?? []);
    },
    watch: (onChange, { signal }) => followIp(WATCH, reporter(onChange), signal),
  };
}

async function listRoutes(): Promise<readonly ListedRoute[]> {
  const routes = await runIp(LIST);
  return parseRoutes(routes, needsNextHops(routes) ? await runIp(LIST_NEXT_HOPS) : '');
}

/** Includes interfaces whose addresses are all of IPv6, because a route may name one of them. */
function interfacesOf(adapters: ReturnType<typeof networkInterfaces>): readonly RouteInterface[] {
  return Object.entries(adapters)
    .filter(([name]) => PLAIN_NAME.test(name))
    .map(([name, addresses = []]) => ({
      id: name,
      name,
      metric: 0,
      addresses: addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? (cidr ?? []) : [])),
    }));
}

/** Includes all properties of a route, so that a removal matches no other route. */
function wordsOf({ op, route, assumesOnLink = false }: RouteChange): readonly string[] {
  const { destination, gateway, interface: through, metric } = route;
  const via = gateway === '' ? [] : ['via', gateway, ...(assumesOnLink ? ['onlink'] : [])];
  const marks = ['proto', PROTOCOL, 'metric', String(metric)];
  return ['route', op === 'add' ? 'add' : 'del', destination, ...via, 'dev', through, ...marks];
}

function outcomeOf(op: RouteChange['op'], said: string | undefined): RouteOutcome {
  if (said === undefined) return { kind: 'done' };
  if (op === 'add' && /File exists/.test(said)) return { kind: 'exists' };
  if (op === 'remove' && /No such process|Cannot find device/.test(said)) return { kind: 'done' };
  const message = said.replace(/^(?:RTNETLINK answers|Error): /, '');
  return { kind: 'failed', isDenied: isDenial(said), message };
}
