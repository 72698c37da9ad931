import type { FileTrust } from '@wins/trusted-files';
import type { Item, ItemKind, StateOf } from './item/item.js';

/**
 * Where one kind of thing of a node is read and written. Each write is one durable act where the system has such an act, may be
 * repeated, and makes the thing what was asked whatever it was before. Errors are of any class; no secret is in their message.
 */
export interface Room<K extends ItemKind> {
  /** The state of a thing; undefined when it is absent. */
  read(item: Item<K>): Promise<StateOf<K> | undefined>;
  /**
   * Makes it so; undefined removes it. What is absent is removed already, and so is what an earlier write left when it was interrupted. A
   * folder that is not ours alone and not empty is not removed: `ENOTEMPTY`.
   *
   * @param content - A private file with the content that the state stands for, whose digest is checked while it is read; undefined
   *   for kinds without.
   */
  write(item: Item<K>, state: StateOf<K> | undefined, content: string | undefined): Promise<void>;
  /** Writes the present content of a thing to a new private file; absent for kinds without. */
  keep?(item: Item<K>, file: string): Promise<void>;
}

/** Port to the system for each kind of item. */
export type NodeRooms = { readonly [K in Exclude<ItemKind, 'program'>]: Room<K> };

/** The upgrade of a service that is there. */
export interface ProgramSwap {
  /**
   * Replaces the program of the stopped service by a copy of a file, starts it and proves it. When it fails, the old program is in
   * its place.
   */
  swap(program: string, file: string, sha256: string): Promise<void>;
  /** Finishes or undoes a swap that was interrupted; nothing when none was. */
  settle(): Promise<void>;
}

/** Port of an installation to the system. */
export interface NodeHost {
  readonly platform: NodeJS.Platform;
  readonly rooms: NodeRooms;
  readonly trust: FileTrust;
  readonly swap: ProgramSwap;
  /** Waits until the daemon serves as it should; rejects when it does not. */
  prove(signal: AbortSignal | undefined): Promise<void>;
  /** Waits until a daemon answers, whatever else is to be said of it; rejects when none does, and with the reason of the signal. */
  answers(signal: AbortSignal | undefined): Promise<void>;
  /** Release that a program reports; undefined when it reports none. The program already runs here as a service. */
  versionOf(program: string): Promise<string | undefined>;
  /** The program that the command line of a service names; undefined when it names none. */
  programOf(command: string): string | undefined;
  /** Whether a service waits for its removal, so that nothing can be done with it. */
  isBeingRemoved(service: string): Promise<boolean>;
  /** Paths in a folder that others made or could change; at most 100. */
  strangersIn(folder: string): Promise<readonly string[]>;
}
