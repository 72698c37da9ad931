import type { FileTrust } from '@wins/trusted-files';
import type { Item, ItemKind, StateOf } from './item/item.js';

/**
 * Reads and writes one kind of item. Writes are durable, atomic where the system allows it, and repeatable, from any
 * previous state. Messages of errors contain no secrets.
 */
export interface Room<K extends ItemKind> {
  /** Undefined when the item is absent. */
  read(item: Item<K>): Promise<StateOf<K> | undefined>;
  /**
   * An undefined state removes the item and any remains of an interrupted write. A shared folder is removed only when empty,
   * otherwise the call rejects with `ENOTEMPTY`.
   * @param content - Path of a private file with the content for `state`; its digest is verified while reading.
   */
  write(item: Item<K>, state: StateOf<K> | undefined, content: string | undefined): Promise<void>;
  /** Copies the content of an item to a new private file; absent for kinds without content. */
  keep?(item: Item<K>, file: string): Promise<void>;
}

export type NodeRooms = { readonly [K in Exclude<ItemKind, 'program'>]: Room<K> };

export interface ProgramSwap {
  /** Replaces the program of the stopped service, starts and verifies it. A failure restores the old program. */
  swap(program: string, file: string, sha256: string): Promise<void>;
  settle(): Promise<void>;
}

export interface NodeHost {
  readonly platform: NodeJS.Platform;
  readonly rooms: NodeRooms;
  readonly trust: FileTrust;
  readonly swap: ProgramSwap;
  /** Rejects unless the daemon serves as expected. */
  prove(signal: AbortSignal | undefined): Promise<void>;
  /** Rejects unless a daemon answers, healthy or not; also rejects, with the signal's reason, on an abort. */
  answers(signal: AbortSignal | undefined): Promise<void>;
  /** Returns the release of a program that already runs as a service here; undefined when it reports none. */
  versionOf(program: string): Promise<string | undefined>;
  programOf(command: string): string | undefined;
  /** True for a service that cannot be changed, because it is marked for removal. */
  isBeingRemoved(service: string): Promise<boolean>;
  /** Returns at most 100 paths that other users own or can change. */
  strangersIn(folder: string): Promise<readonly string[]>;
}
