import { errnoOf } from '@wins/wins-program';
import { itemName, type Item, type StateOf } from '../item/item.js';
import { contentOf } from '../item/step.js';
import type { NodeHost } from '../ports.js';
import type { InstallPlaces } from '../wish/install-places.js';

/** Sees every act that changes something outside this process, by name, and does it, or not. */
export type Around = <T>(effect: string, act: () => Promise<T>) => Promise<T>;

/** What an installation works with. */
export interface InstallContext {
  readonly host: NodeHost;
  readonly places: Pick<InstallPlaces, 'stateFolder'>;
  /** Whoever wants to know that an installation survives its own end at any moment makes it end here. Default: does every act. */
  readonly around?: Around | undefined;
  /** Ends an installation between two steps; what was done is undone. */
  readonly signal?: AbortSignal | undefined;
}

/** Does an act that changes something. */
export function act<T>(
  { around }: InstallContext,
  effect: string,
  task: () => Promise<T>,
): Promise<T> {
  return around === undefined ? task() : around(effect, task);
}

/** The state of a thing of this node; undefined when it is absent. */
export async function readItem({ rooms }: NodeHost, item: Item): Promise<StateOf | undefined> {
  if (item.kind !== 'program') return roomOf(rooms, item).read(item);
  const found = await rooms.file.read({ kind: 'file', path: item.path });
  return found && { sha256: found.sha256 };
}

/** Makes a thing of this node so. The program of a service is replaced as a file: the service must be stopped. */
export async function writeItem(
  context: InstallContext,
  item: Item,
  state: StateOf | undefined,
  content: string | undefined,
): Promise<void> {
  const { rooms } = context.host;
  await act(context, `write ${itemName(item)}`, async () => {
    if (item.kind !== 'program') return roomOf(rooms, item).write(item, state, content);
    const file = { kind: 'file', path: item.path } as const;
    const access = (await rooms.file.read(file))?.access ?? 'executable';
    const sha256 = contentOf(item, state);
    return rooms.file.write(file, sha256 === undefined ? undefined : { sha256, access }, content);
  });
}

/** Writes the present content of a thing to a new file of ours. */
export async function keepItem({ rooms }: NodeHost, item: Item, file: string): Promise<void> {
  const kept: Exclude<Item, { kind: 'program' }> =
    item.kind === 'program' ? { kind: 'file', path: item.path } : item;
  await roomOf(rooms, kept).keep?.(kept, file);
}

/** Whether a folder was not removed because others have something in it. */
export function isNotEmpty(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '');
}

/** A room with the item and the states that belong to it: each has the kind of its room. */
function roomOf(rooms: NodeHost['rooms'], { kind }: Exclude<Item, { kind: 'program' }>): AnyRoom {
  return rooms[kind];
}

interface AnyRoom {
  read(item: Item): Promise<StateOf | undefined>;
  write(item: Item, state: StateOf | undefined, content: string | undefined): Promise<void>;
  keep?(item: Item, file: string): Promise<void>;
}
