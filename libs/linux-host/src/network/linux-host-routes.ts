import {
  networkIdentity,
  type HostRoutes,
  type ListedRoute,
  type NetworkChange,
  type RouteChange,
  type RouteInterface,
  type RouteOutcome,
} from '@wins/base';
import { networkInterfaces } from 'node:os';
import { changeItem, listItems, PROTOCOL, rowsOf } from './linux-network-items.js';
import { followIp, isDenial, runIp, runIpLines } from './ip-command.js';

const UNICAST = '1';
const LIST = ['-j', '-N', '-4', 'route', 'show', 'table', 'main'];
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
      const [routes, items] = await Promise.all([
        runIp(LIST).then(parseRoutes),
        withItems
          ? listItems(interfaces.map(({ name }) => name)).then(
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
    watch: (onChange, signal) => followIp(WATCH, onChange, signal),
  };
}

function interfacesOf(adapters: ReturnType<typeof networkInterfaces>): readonly RouteInterface[] {
  return Object.entries(adapters)
    .filter(([name]) => PLAIN_NAME.test(name))
    .map(([name, addresses = []]) => ({
      ...{ id: name, name, metric: 0 },
      addresses: addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? (cidr ?? []) : [])),
    }))
    .filter(({ addresses }) => addresses.length > 0);
}

/** Includes all properties of a route, so that a removal matches no other route. */
function wordsOf({ op, route }: RouteChange): readonly string[] {
  const { destination, gateway, interface: through, metric } = route;
  const via = gateway === '' ? [] : ['via', gateway];
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

/**
 * Parses the output of `ip -j -N route show`. A route that leads nowhere, or to several next hops, gets an empty interface. Omits
 * routes for one type of service (`tos`), which do not conflict with others.
 *
 * @throws LinuxError `unknown` for output in another format.
 */
export function parseRoutes(text: string): readonly ListedRoute[] {
  return rowsOf(text).flatMap((row) => {
    const { dst, gateway, dev, protocol, metric, type, nexthops, tos } = row;
    if (typeof dst !== 'string' || tos !== undefined) return [];
    const address = dst === 'default' ? '0.0.0.0/0' : dst;
    const isPlain = (type === undefined || type === UNICAST) && nexthops === undefined;
    return [
      {
        destination: address.includes('/') ? address : `${address}/32`,
        gateway: isPlain && typeof gateway === 'string' ? gateway : '',
        interface: isPlain && typeof dev === 'string' ? dev : '',
        metric: typeof metric === 'number' ? metric : 0,
        isMarked: String(protocol) === PROTOCOL,
      },
    ];
  });
}
