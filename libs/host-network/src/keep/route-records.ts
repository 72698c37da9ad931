import type { HostRoutes, NetworkItem } from '@wins/base';
import type { OwnedItem } from '../plan/plan-items.js';
import type { Owned, OwnedRoute } from '../plan/plan.js';
import { privateFile, type PrivateFileOptions } from '../private-file.js';

const FORMAT = 1;

/** Record of the routes and items that the daemon made on this host. */
export interface RouteRecords {
  /**
   * Resolves with an empty list if the record is missing, or if it comes from another boot or network namespace. Such a
   * record lists routes that no longer exist here. If an identical route exists, it belongs to another program.
   */
  read(): Promise<readonly Owned[]>;
  /** Durable and atomic. An empty list removes the record. */
  write(owned: readonly Owned[]): Promise<void>;
}

/** Options of {@link routeRecords}. */
export interface RouteRecordOptions extends PrivateFileOptions {
  readonly host: Pick<HostRoutes, 'bootMark' | 'isThisBoot'>;
}

/** Stores the record in a private file. Routes of an invalid record stay untouched. Methods reject with TrustedFileError. */
export function routeRecords({ host, ...options }: RouteRecordOptions): RouteRecords {
  const state = privateFile(options, parse);
  return {
    read: async () => {
      const content = await state.read();
      return content !== undefined && host.isThisBoot(content.boot) ? content.owned : [];
    },
    write: (owned) => {
      const routes = owned.filter((one) => 'route' in one);
      const items = owned.filter((one) => 'item' in one);
      return owned.length === 0
        ? state.remove()
        : state.write({ format: FORMAT, boot: host.bootMark(), routes, items });
    },
  };
}

function parse(json: unknown): { readonly boot: string; readonly owned: readonly Owned[] } {
  const { format, boot, routes, items = [] } = json as Readonly<Record<string, unknown>>;
  const isOurs = format === FORMAT && typeof boot === 'string';
  if (!isOurs || !Array.isArray(routes) || !Array.isArray(items))
    throw new TypeError('no record of routes');
  return { boot, owned: [...items.map(parseItem), ...routes.map(parseRoute)] };
}

function parseRoute(json: unknown): Owned {
  const { route, state } = json as OwnedRoute;
  const { destination, gateway, interface: through, metric } = route;
  const isRoute = [destination, gateway, through].every(isText) && Number.isSafeInteger(metric);
  if (!isRoute || !isState(state)) throw new TypeError('no route of a record');
  return { route: { destination, gateway, interface: through, metric }, state };
}

const KINDS: ReadonlySet<NetworkItem['kind']> = new Set([
  ...(['bridge', 'address', 'filter', 'rule', 'forwarding'] as const),
]);
const PRIORS: ReadonlySet<unknown> = new Set([undefined, '0', '1']);

function parseItem(json: unknown): Owned {
  const { item, state, prior } = json as OwnedItem;
  const { kind, key, value } = item;
  const isItem = KINDS.has(kind) && [key, value].every(isText);
  if (!isItem || !isState(state) || !PRIORS.has(prior)) throw new TypeError('no item of a record');
  return { item: { kind, key, value }, state, ...(prior !== undefined && { prior }) };
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isState(value: unknown): boolean {
  return value === 'pending' || value === 'applied';
}
