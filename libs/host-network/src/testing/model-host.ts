import { EventEmitter, once } from 'node:events';
import {
  CONTAINER_NETWORK,
  formatNetwork,
  networkOf,
  parseNetwork,
  type HostRoutes,
  type ItemChange,
  type ListedItem,
  type ListedRoute,
  type NetworkChange,
  type NetworkItem,
  type RouteInterface,
  type RouteOutcome,
  type RoutingState,
  type StaticRoute,
} from '@wins/base';
import type { Owned } from '../plan/plan.js';
import type { RouteRecords } from '../keep/route-records.js';

/** Linux marks routes, and allows one per destination and metric. Windows has no marks, and allows one per destination, interface and next hop. */
export type Dialect = 'linux' | 'windows';

/** Model of a host with the rules of its {@link Dialect}. Stores the route records too. Dies after `callsLeft` calls. */
export class ModelHost implements HostRoutes, RouteRecords {
  routes: ListedRoute[];
  interfaces: RouteInterface[];
  items: ListedItem[];
  /** If set, `list` returns it in place of the items. */
  itemsError: Error | undefined;
  onChange: () => unknown = () => undefined;
  recorded: readonly Owned[] = [];
  boot = 'this boot';
  /** Number of calls that succeed before the host dies. Each change and each write of the records counts as a call. */
  callsLeft = Infinity;
  changes = 0;
  /** Destinations and item kinds. The system refuses to change a route to such a destination, or an item of such a kind. */
  readonly denied = new Set<string>();
  readonly watchers = new Set<() => void>();
  readonly #dialect: Dialect;
  readonly #told = new EventEmitter();

  constructor(
    dialect: Dialect,
    interfaces: readonly RouteInterface[],
    foreign: readonly StaticRoute[],
  ) {
    this.#dialect = dialect;
    this.interfaces = [...interfaces];
    this.routes = [];
    this.items = interfaces.map(({ id }) => ({ kind: 'forwarding', key: id, value: '0' }));
    for (const route of foreign) this.add(route);
  }

  /** Adds a route of another program; returns false if the {@link Dialect} does not allow it. */
  add(route: StaticRoute, isMarked = false): boolean {
    if (this.routes.some((at) => this.#isRivalOf(at, route))) return false;
    this.routes.push({ ...route, ...(this.#dialect === 'linux' && { isMarked }) });
    return true;
  }

  remove(route: StaticRoute): void {
    this.routes = this.routes.filter((at) => keyOf(at) !== keyOf(route));
  }

  bootMark(): string {
    return this.boot;
  }

  isThisBoot(mark: string): boolean {
    return mark === this.boot;
  }

  list(withItems: boolean): Promise<RoutingState> {
    return Promise.resolve({
      interfaces: [...this.interfaces],
      routes: [...connectedRoutes(this.interfaces), ...this.routes],
      ...(withItems &&
        this.#dialect === 'linux' &&
        (this.itemsError ? { itemsError: this.itemsError } : { items: [...this.items] })),
    });
  }

  item(kind: NetworkItem['kind'], key: string): ListedItem | undefined {
    return this.items.find((at) => at.kind === kind && at.key === key);
  }

  /** Sets an item as another program would; removes it if `value` is undefined. */
  put(
    {
      kind,
      key,
      value,
    }: NetworkItem | { kind: NetworkItem['kind']; key: string; value?: undefined },
    isMarked?: boolean,
  ): void {
    this.items = this.items.filter((at) => at.kind !== kind || at.key !== key);
    const mark = isMarked === undefined ? {} : { isMarked };
    if (value !== undefined) this.items.push({ kind, key, value, ...mark });
  }

  #changeItem({ op, item, prior }: ItemChange): RouteOutcome {
    const { kind, key, value } = item;
    const there = this.item(kind, key);
    const isOnBridge = kind === 'address' || kind === 'filter';
    if (op === 'remove') {
      if (kind === 'forwarding') this.put({ kind, key, value: prior ?? value });
      else if (kind === 'bridge') {
        this.items = this.items.filter((at) => {
          return at.kind === 'rule' || (at.kind === 'forwarding' && at.key !== CONTAINER_NETWORK);
        });
      } else this.put({ kind, key });
      return { kind: 'done' };
    }
    if (there !== undefined && (kind !== 'forwarding' || there.value === value))
      return { kind: 'exists' };
    if (isOnBridge && this.item('bridge', CONTAINER_NETWORK) === undefined)
      return { kind: 'failed', isDenied: false, message: 'no such interface' };
    this.put(item, kind === 'bridge' || kind === 'rule' ? true : undefined);
    if (kind === 'bridge') this.put({ kind: 'forwarding', key, value: '0' });
    return { kind: 'done' };
  }

  async change(changes: readonly NetworkChange[]): Promise<readonly RouteOutcome[]> {
    setImmediate(() => this.#told.emit('changed'));
    const outcomes: RouteOutcome[] = [];
    for (const change of changes) {
      await this.#call();
      this.changes += 1;
      const isRoute = 'route' in change;
      if (this.denied.has(isRoute ? change.route.destination : change.item.kind))
        outcomes.push({ kind: 'failed', isDenied: true, message: 'not permitted' });
      else if (!isRoute) outcomes.push(this.#changeItem(change));
      else if (change.op === 'add')
        outcomes.push({ kind: this.add(change.route, true) ? 'done' : 'exists' });
      else {
        this.remove(change.route);
        outcomes.push({ kind: 'done' });
      }
      this.onChange();
    }
    return outcomes;
  }

  async nextChange(): Promise<void> {
    await once(this.#told, 'changed');
  }

  async watch(onChange: () => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.watchers.add(onChange);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.watchers.delete(onChange);
  }

  read(): Promise<readonly Owned[]> {
    return Promise.resolve(this.recorded);
  }

  async write(owned: readonly Owned[]): Promise<void> {
    await this.#call();
    this.recorded = owned;
  }

  async #call(): Promise<void> {
    await Promise.resolve();
    if ((this.callsLeft -= 1) < 0) throw new Error('the process has died');
  }

  #isRivalOf(one: StaticRoute, other: StaticRoute): boolean {
    if (one.destination !== other.destination) return false;
    return this.#dialect === 'linux'
      ? one.metric === other.metric
      : one.gateway === other.gateway && one.interface === other.interface;
  }
}

/** The routes that a system makes by itself: one to the network of each address. */
export function connectedRoutes(interfaces: readonly RouteInterface[]): readonly ListedRoute[] {
  return interfaces.flatMap(({ id, addresses }) =>
    addresses.flatMap((text) => {
      const network = parseNetwork(text);
      const destination = network === undefined ? '' : formatNetwork(networkOf(network));
      // The route to an own address alone is in another table.
      return destination === '' || destination.endsWith('/32')
        ? []
        : [{ destination, gateway: '', interface: id, metric: 0, isOnLink: true }];
    }),
  );
}

function keyOf({ destination, gateway, interface: through, metric }: StaticRoute): string {
  return [destination, gateway, through, metric].join(' ');
}
