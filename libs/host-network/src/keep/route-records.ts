import type { HostRoutes, NetworkItem, StaticRoute } from '@wins/base';
import { StateFile } from '@wins/files';
import { replaceFile, type FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import type { Owned } from '../plan/plan.js';

const FORMAT = 1;
/** Enough for 2,048 routes, some recorded twice while one replaces another. */
const MAX_BYTES = 1024 * 1024;

/** Record of the routes and items that wins made on this host. */
export interface RouteRecords {
  /**
   * Resolves with an empty list when there is no record, or when it is of an earlier boot or another network: no route of wins survives
   * those, so an identical route belongs to another program.
   */
  read(): Promise<readonly Owned[]>;
  /** Replaces the record durably and atomically; an empty one is removed. */
  write(owned: readonly Owned[]): Promise<void>;
}

export interface RouteRecordOptions {
  /** Absolute path; the folder is made private, or checked, before each write. */
  readonly path: string;
  readonly trust: Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;
  readonly host: Pick<HostRoutes, 'bootMark' | 'isThisBoot'>;
  /** Called for an invalid record. It counts as empty, so the routes in it stay untouched. */
  readonly onDamaged: (file: string) => void;
}

interface Content {
  readonly boot: string;
  readonly owned: readonly Owned[];
}

/** Stores the record in a private file. Both methods reject with TrustedFileError. */
export function routeRecords(options: RouteRecordOptions): RouteRecords {
  const { trust, host, onDamaged, path: file } = options;
  const state = new StateFile<Content>({
    ...{ path: file, maxBytes: MAX_BYTES, trust, parse },
    damaged: () => {
      onDamaged(file);
      return undefined;
    },
    replace: async (place, content) => {
      trust.ensurePrivateFolder(path.dirname(place));
      await replaceFile(place, content);
    },
  });
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

function parse(json: unknown): Content {
  const { format, boot, routes, items = [] } = json as Readonly<Record<string, unknown>>;
  if (
    format !== FORMAT ||
    typeof boot !== 'string' ||
    !Array.isArray(routes) ||
    !Array.isArray(items)
  )
    throw new TypeError('no record of routes');
  return { boot, owned: [...items.map(parseItem), ...routes.map(parseRoute)] };
}

function parseRoute(json: unknown): Owned {
  const { route, state } = json as { readonly route: StaticRoute; readonly state: unknown };
  const { destination, gateway, interface: through, metric } = route;
  const isRoute =
    [destination, gateway, through].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(metric);
  if (!isRoute || (state !== 'pending' && state !== 'applied'))
    throw new TypeError('no route of a record');
  return { route: { destination, gateway, interface: through, metric }, state };
}

const KINDS: ReadonlySet<NetworkItem['kind']> = new Set([
  ...(['bridge', 'address', 'filter', 'rule', 'forwarding'] as const),
]);

function parseItem(json: unknown): Owned {
  const { item, state, prior } = json as {
    readonly item: NetworkItem;
    readonly state: unknown;
    readonly prior: unknown;
  };
  const { kind, key, value } = item;
  const isItem = KINDS.has(kind) && typeof key === 'string' && typeof value === 'string';
  const isState = state === 'pending' || state === 'applied';
  if (!isItem || !isState || (prior !== undefined && prior !== '0' && prior !== '1'))
    throw new TypeError('no item of a record');
  return { item: { kind, key, value }, state, ...(prior !== undefined && { prior }) };
}
