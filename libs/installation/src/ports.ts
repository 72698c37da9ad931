import type { FileTrust } from '@wins/trusted-files';
import type { Item, ItemKind, StateOf } from './item/item.js';

/**
 * Port for reading and writing one kind of item of a node. Each write is durable and atomic where the system supports that, may be
 * repeated, and produces the requested state from any previous state. Errors are of any class; their messages contain no secrets.
 */
export interface Room<K extends ItemKind> {
  /** Reads the state of an item; undefined when it is absent. */
  read(item: Item<K>): Promise<StateOf<K> | undefined>;
  /**
   * Writes a state; undefined removes the item. An absent item counts as removed, and remains of an interrupted write are removed too. A
   * folder that other programs use too is removed only when it is empty, else the call rejects with `ENOTEMPTY`.
   *
   * @param content - A private file with the content for the state's digest, which is verified while reading; undefined for kinds without
   * content.
   */
  write(item: Item<K>, state: StateOf<K> | undefined, content: string | undefined): Promise<void>;
  /** Copies the present content of an item to a new private file; absent for kinds without content. */
  keep?(item: Item<K>, file: string): Promise<void>;
}

/** Port to the system for each kind of item. */
export type NodeRooms = { readonly [K in Exclude<ItemKind, 'program'>]: Room<K> };

/** Upgrade of an existing service. */
export interface ProgramSwap {
  /**
   * Replaces the program of the stopped service by a copy of a file, starts the service and verifies that it serves. After a failure the
   * old program is back in place.
   */
  swap(program: string, file: string, sha256: string): Promise<void>;
  /** Finishes or undoes an interrupted swap; does nothing if there is none. */
  settle(): Promise<void>;
}

/** Port of an installation to the node. */
export interface NodeHost {
  readonly platform: NodeJS.Platform;
  readonly rooms: NodeRooms;
  readonly trust: FileTrust;
  readonly swap: ProgramSwap;
  /** Waits until the daemon serves as expected; rejects when it does not. */
  prove(signal: AbortSignal | undefined): Promise<void>;
  /** Waits until a daemon answers, in any state of health; rejects when none does, and with the reason of the signal. */
  answers(signal: AbortSignal | undefined): Promise<void>;
  /** Returns the release that a program reports; undefined when it reports none. The program already runs as a service on this node. */
  versionOf(program: string): Promise<string | undefined>;
  /** Returns the program in the command line of a service; undefined when there is none. */
  programOf(command: string): string | undefined;
  /** Whether a service is marked for removal, so that it cannot be changed. */
  isBeingRemoved(service: string): Promise<boolean>;
  /** Returns paths in a folder that other users made or could change; at most 100. */
  strangersIn(folder: string): Promise<readonly string[]>;
}
