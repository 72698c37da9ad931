// This file is longer than most, because it also has the words of a plan: its items, steps, states and refusals.
import {
  CONTAINER_NETWORK,
  isSameRoute,
  messageOf,
  type ListedRoute,
  type NetworkChange,
  type NetworkItem,
  type RouteChange,
  type RoutingState,
  type StaticRoute,
} from '@wins/base';
import { DEFAULT_METRIC, type DesiredNetwork, type DesiredRoute } from './desired-route.js';
import { judgePeers, sortedBy, type JudgedPeers, type PeerRejectionCode } from './judge-peers.js';
import { itemsOf, judgeSubnet, type SubnetRejectionCode } from './own-network.js';
import { itemKey, planItems, type OwnedItem, type RouteState } from './plan-items.js';
import { Surroundings, type ResolvedRoute } from './resolve-route.js';

/** A route or item that the daemon made. `pending`: recorded before the step that makes it. */
export type Owned = OwnedRoute | OwnedItem;

/** A route that the daemon created. `pending`: recorded before the step that creates it. */
export interface OwnedRoute {
  readonly route: StaticRoute;
  readonly state: 'pending' | 'applied';
}

/** Limits of a single plan. */
export interface PlanLimits {
  /** Maximum number of desired routes. The plan sorts them by destination and rejects those beyond the limit. Default 1,024. */
  readonly routes: number;
  /** Maximum number of steps for routes. Later plans contain the rest. Default 256. */
  readonly steps: number;
}

const HELD = 'it stays unchanged until its source has answered';

export const PLAN_LIMITS: PlanLimits = { routes: 1024, steps: 256 };

/** A change of the host with the reason for it. */
export type PlannedStep = NetworkChange & {
  /** One clause, for people. */
  readonly reason: string;
};

/** State of a route, an item, or a refused container network. */
export interface Standing {
  readonly kind: 'route' | 'subnet' | NetworkItem['kind'];
  /** Destination of a route, key of an item, or the subnet. */
  readonly destination: string;
  readonly state: RouteState;
  /** One clause, for people; may be empty. */
  readonly detail: string;
  /** Empty while unknown. */
  readonly gateway: string;
  readonly interface: string;
  readonly metric: number;
  /** `id` of the peer behind the route; absent for other routes. */
  readonly peer?: string | undefined;
  /** Why the peer or subnet is refused. */
  readonly code?: PeerRejectionCode | SubnetRejectionCode | undefined;
}

/** Result of {@link plan}. Carry out `steps` in order, after `record` is stored. */
export interface RoutePlan {
  /** Items come before routes. In each group, removals come before additions, because an addition may replace a removed route or item. */
  readonly steps: readonly PlannedStep[];
  /** Must be on disk before the first step. */
  readonly record: readonly Owned[];
  /** Three groups: first the desired routes, sorted by destination; then the refused peers; last the container network. */
  readonly standings: readonly Standing[];
  /** Destinations and items that have the daemon's mark but are neither recorded nor desired. They stay. */
  readonly orphans: readonly string[];
  /** True if the plan exceeds the limit of steps, so that the rest is left for a later plan. */
  readonly isLimited: boolean;
}

/** Options of {@link plan}. */
export interface PlanOptions {
  /** Default: 1024 routes and 256 steps. */
  readonly limits?: PlanLimits | undefined;
  /** Outcomes of steps that must not be repeated now, by {@link stepKeyOf}. */
  readonly tried?: ReadonlyMap<string, string> | undefined;
}

/**
 * Plans the changes that add the desired routes to the host and remove the daemon's other routes. Pure, and never throws.
 *
 * A route belongs to the daemon while it is in the record and unchanged on the host. Only such routes are removed. If another program has
 * an equal route, the desired route counts as present; a different route with that destination and metric is a conflict.
 */
export function plan(
  desired: DesiredNetwork,
  actual: RoutingState,
  recorded: readonly Owned[],
  { limits = PLAN_LIMITS, tried = new Map() }: PlanOptions = {},
): RoutePlan {
  const record = recorded.filter((one) => 'route' in one);
  const items = recorded.filter((one) => 'item' in one);
  const host = new Surroundings(actual);
  const listed = grouped(actual.routes, (route) => route);
  const owned = grouped(
    record.filter(({ route }) => listed.get(route.destination)?.some((at) => isOurs(at, route))),
    ({ route }) => route,
  );
  const lost = new Set(
    record.filter(({ state }) => state === 'applied').map(({ route }) => stepKey(route)),
  );
  const names = new Map(actual.interfaces.map(({ id, name }) => [id, name]));
  const removals: (PlannedStep & RouteChange)[] = [];
  const additions: (PlannedStep & RouteChange)[] = [];
  const standings: Standing[] = [];
  const kept: OwnedRoute[] = [];

  const isHeld = desired.holds === true;
  const remove = (routes: readonly OwnedRoute[], reason: string, isOfConfig = false): void => {
    for (const { route } of routes) {
      kept.push({ route, state: 'applied' });
      if (isHeld && !isOfConfig) continue;
      if (!tried.has(stepKey(route, 'remove'))) removals.push({ op: 'remove', route, reason });
    }
  };
  const foreign = actual.routes.filter(
    (at) => !owned.get(at.destination)?.some(({ route }) => isOurs(at, route)),
  );
  const judged = judgePeers(desired.peers ?? [], {
    ...desired,
    foreign,
    own: desired.own?.subnet,
    incumbents: record.map(({ route }) => route),
  });
  const uplinks = new Set<string>();
  const wanted = wantedRoutes(desired.routes, judged);
  for (const [index, one] of wanted.entries()) {
    const { destination, metric, peer } = one;
    const ours = owned.get(destination) ?? [];
    owned.delete(destination);
    const stands = (state: RouteState, detail: string, at?: StaticRoute): void => {
      const where = at ?? { gateway: one.gateway ?? '', interface: one.interface ?? '' };
      const name = names.get(where.interface) ?? where.interface;
      if (peer !== undefined && where.interface !== '' && state !== 'rejected')
        uplinks.add(where.interface);
      standings.push({
        kind: 'route',
        destination,
        state,
        detail,
        metric,
        gateway: where.gateway,
        interface: name,
        ...(peer !== undefined && { peer }),
      });
    };
    const resolved: ResolvedRoute =
      index < limits.routes
        ? host.resolve(one, {
            isToPeer: peer !== undefined,
            existing: ours.map((own) => own.route),
          })
        : { kind: 'rejected', detail: `it is beyond the limit of ${limits.routes} routes` };
    if (resolved.kind !== 'route') {
      const { kind, detail } = resolved;
      if (kind === 'rejected') remove(ours, detail, peer === undefined);
      // The host lacks something that may return at any moment, such as an interface: keep existing routes.
      else kept.push(...ours.map(({ route }) => ({ route, state: 'applied' as const })));
      const isKept = kind === 'waiting' && ours.length > 0;
      stands(isKept ? 'applied' : kind, detail, isKept ? ours[0]?.route : undefined);
      continue;
    }
    const { route, assumesOnLink } = resolved;
    const same = ours.filter((own) => isSameRoute(own.route, route));
    if (isHeld && peer !== undefined && same.length === 0 && ours.length > 0) {
      remove(ours, HELD);
      stands('applied', HELD, ours[0]?.route);
      continue;
    }
    remove(
      ours.filter((own) => !isSameRoute(own.route, route)),
      `${destination} has another next hop now`,
      peer === undefined,
    );
    if (same.length > 0) {
      kept.push({ route, state: 'applied' });
      stands('applied', '', route);
      continue;
    }
    const others = (listed.get(destination) ?? []).filter(
      (at) => !ours.some((own) => isOurs(at, own.route)),
    );
    const alike = others.some((at) => isSameRoute({ ...at, metric }, route));
    const rival = others.find((at) => at.metric === metric);
    const outcome = tried.get(stepKey(route));
    if (alike) stands('foreign', 'another program made it', route);
    else if (rival !== undefined) {
      const way = rival.gateway === '' ? 'another way' : `through ${rival.gateway}`;
      stands('conflict', `a route of another program leads there ${way}`, route);
    } else if (outcome !== undefined) stands('failed', outcome, route);
    else {
      const reason = lost.has(stepKey(route)) ? 'it was removed' : 'configured';
      additions.push({ op: 'add', route, reason, ...(assumesOnLink && { assumesOnLink }) });
      stands('planned', reason, route);
    }
  }
  for (const ours of owned.values()) remove(ours, 'no longer configured');
  for (const { peer, code, detail } of judged.rejected.slice(0, limits.routes))
    standings.push({
      kind: 'route',
      destination: peer.subnet,
      state: 'rejected',
      detail,
      code,
      peer: peer.id,
      gateway: peer.nextHop,
      interface: '',
      metric: DEFAULT_METRIC,
    });

  const network = planOwn(desired, actual, items, [...uplinks].sort(), tried);
  const steps = [...removals, ...additions].slice(0, limits.steps);
  const pending = steps
    .filter(({ op }) => op === 'add')
    .map(({ route }): OwnedRoute => ({ route, state: 'pending' }));
  const known = new Set(wanted.map(({ destination }) => destination));
  const orphans = actual.routes
    .filter((at) => at.isMarked === true && !known.has(at.destination))
    .filter((at) => !record.some(({ route }) => isSameRoute(route, at)))
    .map(({ destination }) => destination);
  return {
    steps: [...network.steps, ...steps],
    record: [...network.record, ...sortedBy([...kept, ...pending], ({ route }) => stepKey(route))],
    standings: [...standings, ...network.standings],
    orphans: [...orphans, ...network.orphans].sort(),
    isLimited: steps.length < removals.length + additions.length,
  };
}

/** While the items of the container network are unknown, the plan keeps the record and has no steps. */
function planOwn(
  desired: DesiredNetwork,
  actual: RoutingState,
  record: readonly OwnedItem[],
  uplinks: readonly string[],
  tried: ReadonlyMap<string, string>,
): Omit<RoutePlan, 'isLimited'> {
  const { own } = desired;
  const { items: listed = [], itemsError } = actual;
  const bare = { gateway: '', interface: '', metric: 0 };
  if (itemsError !== undefined && (own !== undefined || record.length > 0)) {
    const standing: Standing = {
      ...bare,
      kind: 'subnet',
      state: 'failed',
      detail: messageOf(itemsError),
      destination: own?.subnet ?? CONTAINER_NETWORK,
      gateway: own?.gateway ?? '',
    };
    return { steps: [], record, standings: [standing], orphans: [] };
  }
  const refusal = own && judgeSubnet(own, desired, actual, record);
  const isMade = own !== undefined && refusal === undefined;
  const wanted = isMade ? itemsOf(own, desired, uplinks, actual, record) : [];
  const planned = planItems(wanted, listed, record, tried);
  // Empty if the name is only the id, which `destination` shows already.
  const names = new Map(actual.interfaces.map(({ id, name }) => [id, name === id ? '' : name]));
  const standings = planned.standings.map(({ item, state, detail }): Standing => ({
    ...bare,
    kind: item.kind,
    destination: item.key,
    state,
    detail,
    interface: names.get(item.key.split(' ', 1)[0] ?? '') ?? '',
  }));
  if (own !== undefined && refusal !== undefined) {
    const { subnet: destination, gateway } = own;
    const [code, detail] = refusal;
    standings.push({
      ...bare,
      kind: 'subnet',
      destination,
      gateway,
      state: 'rejected',
      code,
      detail,
    });
  }
  const orphans = planned.orphans.map(({ kind, key }) => `${kind} ${key}`);
  return { ...planned, standings, orphans };
}

/** Returns one route per destination; a configured route takes precedence over a route to a peer. */
function wantedRoutes(
  routes: readonly DesiredRoute[],
  { accepted }: JudgedPeers,
): readonly (DesiredRoute & { readonly peer?: string })[] {
  const toPeers = accepted.map(({ id, subnet, nextHop }) => ({
    destination: subnet,
    gateway: nextHop,
    metric: DEFAULT_METRIC,
    peer: id,
  }));
  const all = new Map([...toPeers, ...routes].map((one) => [one.destination, one]));
  return sortedBy([...all.values()], ({ destination }) => destination);
}

/** Identifies a step across plans. */
export function stepKeyOf(change: NetworkChange): string {
  return 'route' in change ? stepKey(change.route, change.op) : itemKey(change.item, change.op);
}

function stepKey(route: StaticRoute, op: RouteChange['op'] = 'add'): string {
  return [op, route.destination, route.gateway, route.interface, route.metric].join(' ');
}

/** On hosts that mark routes, an identical but unmarked route belongs to another program. */
function isOurs(listed: ListedRoute, recorded: StaticRoute): boolean {
  return listed.isMarked !== false && isSameRoute(listed, recorded);
}

function grouped<Item>(
  items: readonly Item[],
  routeOf: (item: Item) => StaticRoute,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const { destination } = routeOf(item);
    const group = groups.get(destination) ?? [];
    group.push(item);
    groups.set(destination, group);
  }
  return groups;
}
