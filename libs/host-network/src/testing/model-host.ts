import { EventEmitter, once } from 'node:events';
import type {
  HostRoutes,
  ListedRoute,
  RouteChange,
  RouteInterface,
  RouteOutcome,
  RoutingState,
  StaticRoute,
} from '@wins/base';
import type { OwnedRoute } from '../plan/plan.js';
import type { RouteRecords } from '../keep/route-records.js';

/** How a system names a route: Linux takes one of a destination and metric, and marks ours; Windows one through a next hop. */
export type Dialect = 'linux' | 'windows';

/** A host whose routing table keeps the rules of the real ones, and the disk of its record. It dies at a call that the test chooses. */
export class ModelHost implements HostRoutes, RouteRecords {
  routes: ListedRoute[];
  interfaces: RouteInterface[];
  recorded: readonly OwnedRoute[] = [];
  boot = 'this boot';
  /** How many calls are left before it dies. */
  callsLeft = Infinity;
  /** How many changes of routes were asked for. */
  changes = 0;
  /** Destinations for which the system refuses changes. */
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
    for (const route of foreign) this.add(route);
  }

  /** Adds a route as another program would; false where the system already has one in its place. */
  add(route: StaticRoute, isMarked = false): boolean {
    if (this.routes.some((at) => this.#hasPlaceOf(at, route))) return false;
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

  list(): Promise<RoutingState> {
    return Promise.resolve({ interfaces: [...this.interfaces], routes: [...this.routes] });
  }

  async change(changes: readonly RouteChange[]): Promise<readonly RouteOutcome[]> {
    setImmediate(() => this.#told.emit('changed'));
    const outcomes: RouteOutcome[] = [];
    for (const { op, route } of changes) {
      await this.#call();
      this.changes += 1;
      if (this.denied.has(route.destination))
        outcomes.push({ kind: 'failed', isDenied: true, message: 'not permitted' });
      else if (op === 'add') outcomes.push({ kind: this.add(route, true) ? 'done' : 'exists' });
      else {
        this.remove(route);
        outcomes.push({ kind: 'done' });
      }
    }
    return outcomes;
  }

  /** Resolves after changes that are made from now on. */
  async nextChange(): Promise<void> {
    await once(this.#told, 'changed');
  }

  async watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    this.watchers.add(onChange);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.watchers.delete(onChange);
  }

  read(): Promise<readonly OwnedRoute[]> {
    return Promise.resolve(this.recorded);
  }

  async write(routes: readonly OwnedRoute[]): Promise<void> {
    await this.#call();
    this.recorded = routes;
  }

  async #call(): Promise<void> {
    await Promise.resolve();
    if ((this.callsLeft -= 1) < 0) throw new Error('the process has died');
  }

  #hasPlaceOf(one: StaticRoute, other: StaticRoute): boolean {
    if (one.destination !== other.destination) return false;
    return this.#dialect === 'linux'
      ? one.metric === other.metric
      : one.gateway === other.gateway && one.interface === other.interface;
  }
}

function keyOf({ destination, gateway, interface: through, metric }: StaticRoute): string {
  return [destination, gateway, through, metric].join(' ');
}
