import { errnoOf } from '@wins/base';
import type { Step } from './item/step.js';
import { itemName, type Item, type StateOf } from './item/item.js';
import type { ItemHost, ItemStore } from './ports.js';
import type { InstallPaths } from './desired/install-paths.js';

/** Wraps each action that has an external effect, and decides whether it runs. */
export type Around = <T>(effect: string, action: () => Promise<T>) => Promise<T>;

/** The node, and the callbacks of an installation. */
export interface InstallContext<Host extends ItemHost = ItemHost> {
  readonly host: Host;
  readonly paths: Pick<InstallPaths, 'stateFolder'>;
  /** Default: each change runs at once. */
  readonly around?: Around | undefined;
  /** Aborts an installation between two steps; finished steps are undone. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each finished step. */
  readonly onStep?: ((step: Step) => unknown) | undefined;
}

export const perform = <T>({ around }: InstallContext, effect: string, task: () => Promise<T>) =>
  around === undefined ? task() : around(effect, task);

export function readItem(host: ItemHost, item: Item): Promise<StateOf | undefined> {
  return storeOf(host, item).read(item);
}

/** Writes any item. It writes a program as a plain file, so a service that runs the program must be stopped first. */
export function writeItem(
  context: InstallContext,
  item: Item,
  state: StateOf | undefined,
  content: string | undefined,
): Promise<void> {
  return perform(context, `write ${itemName(item)}`, () =>
    storeOf(context.host, item).write(item, state, content),
  );
}

export async function keepItem(host: ItemHost, item: Item, file: string): Promise<void> {
  await storeOf(host, item).keep?.(item, file);
}

export function isNotEmpty(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '');
}

function storeOf({ stores }: ItemHost, { kind }: Item): AnyStore {
  return kind === 'program' ? programsIn(stores.file) : stores[kind];
}

function programsIn(files: ItemStore<'file'>): ItemStore<'program'> {
  const fileOf = ({ path }: Item<'program'>) => ({ kind: 'file', path }) as const;
  return {
    read: async (item) => {
      const found = await files.read(fileOf(item));
      return found && { sha256: found.sha256 };
    },
    write: async (item, state, content) => {
      const access = (await files.read(fileOf(item)))?.access ?? 'executable';
      await files.write(fileOf(item), state && { ...state, access }, content);
    },
    keep: async (item, file) => files.keep?.(fileOf(item), file),
  };
}

interface AnyStore {
  read(item: Item): Promise<StateOf | undefined>;
  write(item: Item, state: StateOf | undefined, content: string | undefined): Promise<void>;
  keep?(item: Item, file: string): Promise<void>;
}
