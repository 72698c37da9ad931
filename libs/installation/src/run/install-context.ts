import { errnoOf } from '@wins/base';
import type { Step } from '../item/step.js';
import { itemName, type Item, type StateOf } from '../item/item.js';
import type { NodeHost, Room } from '../ports.js';
import type { InstallPlaces } from '../wish/install-places.js';

/** Sees every act that changes something outside this process, by name, and does it, or not. */
export type Around = <T>(effect: string, act: () => Promise<T>) => Promise<T>;

/** Context of an installation. */
export interface InstallContext {
  readonly host: NodeHost;
  readonly places: Pick<InstallPlaces, 'stateFolder'>;
  /** A test that an installation survives its own end at any moment makes it end here. Default: does every act. */
  readonly around?: Around | undefined;
  /** Ends an installation between two steps; what was done is undone. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each step that is done. It must not throw. */
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** Does an act that changes something. */
export function act<T>(
  { around }: InstallContext,
  effect: string,
  task: () => Promise<T>,
): Promise<T> {
  return around === undefined ? task() : around(effect, task);
}

/** Returns the state of an item of this node; undefined when it is absent. */
export function readItem(host: NodeHost, item: Item): Promise<StateOf | undefined> {
  return roomOf(host, item).read(item);
}

/** Brings an item of this node into this state. The program of a service is replaced as a file: the service must be stopped. */
export function writeItem(
  context: InstallContext,
  item: Item,
  state: StateOf | undefined,
  content: string | undefined,
): Promise<void> {
  return act(context, `write ${itemName(item)}`, () =>
    roomOf(context.host, item).write(item, state, content),
  );
}

/** Writes the present content of a thing to a new file of ours. */
export async function keepItem(host: NodeHost, item: Item, file: string): Promise<void> {
  await roomOf(host, item).keep?.(item, file);
}

/** Whether a folder was not removed because others have something in it. */
export function isNotEmpty(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '');
}

/** A room with the item and the states that belong to it: each has the kind of its room. */
function roomOf({ rooms }: NodeHost, { kind }: Item): AnyRoom {
  return kind === 'program' ? programsIn(rooms.file) : rooms[kind];
}

/** Programs as files, whose access stays as it is. */
function programsIn(files: Room<'file'>): Room<'program'> {
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

interface AnyRoom {
  read(item: Item): Promise<StateOf | undefined>;
  write(item: Item, state: StateOf | undefined, content: string | undefined): Promise<void>;
  keep?(item: Item, file: string): Promise<void>;
}
