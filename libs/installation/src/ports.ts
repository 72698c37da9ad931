import type { Abortable } from 'node:events';
import type { FileTrust } from '@wins/trusted-files';
import type { Item, ItemKind, StateOf } from './item/item.js';

/**
 * Reads and writes one kind of item. A write is durable, atomic if the system allows it, and works from any previous state.
 * Error messages contain no secrets.
 */
export interface ItemStore<K extends ItemKind> {
  read(item: Item<K>): Promise<StateOf<K> | undefined>;
  /**
   * Brings the item into the given state. If `state` is undefined, removes the item, and also what an interrupted write left
   * behind. Removing a folder that is not empty rejects with `ENOTEMPTY`, unless the folder `isData`.
   * @param content - Private file with the content for `state`. The store verifies its digest.
   */
  write(item: Item<K>, state: StateOf<K> | undefined, content: string | undefined): Promise<void>;
  /** Copies the content of an item to a new private file. */
  keep?(item: Item<K>, file: string): Promise<void>;
}

/** One store for each kind of item, except `program`, which {@link ProgramSwap} replaces. */
export type ItemStores = { readonly [K in Exclude<ItemKind, 'program'>]: ItemStore<K> };

/** Replaces the program of a service, so that a failed start returns to the old one. */
export interface ProgramSwap {
  /** Replaces the program of the stopped service, then starts the service and verifies it. A failure restores the old program. */
  swap(program: string, file: string, sha256: string): Promise<void>;
  /** Finishes or undoes an interrupted replacement. */
  settle(): Promise<void>;
}

/** Reads, writes and proves the items of one service. */
export interface ItemHost {
  readonly platform: NodeJS.Platform;
  readonly stores: ItemStores;
  readonly trust: FileTrust;
  /** Names the service in messages. Default: `the daemon`. */
  readonly subject?: string | undefined;
  /** Needed only for items of the kind `program`. */
  readonly swap?: ProgramSwap | undefined;
  /** Rejects unless the service serves as expected. */
  prove(options?: Abortable): Promise<void>;
  /** Rejects unless a restarted service answers, healthy or not. An abort rejects with the signal's reason. */
  answers(options?: Abortable): Promise<void>;
  /** Returns at most 100 paths that other users own or can change. */
  strangersIn(folder: string): Promise<readonly string[]>;
}

/** Also examines the installed daemon. */
export interface NodeHost extends ItemHost {
  readonly swap: ProgramSwap;
  /** Returns the release that an installed program reports, if any. */
  versionOf(program: string): Promise<string | undefined>;
  /** Returns the path of the program in a command line of a service. */
  programOf(command: string): string | undefined;
  /** If true, the service cannot be changed. */
  isBeingRemoved(service: string): Promise<boolean>;
}
