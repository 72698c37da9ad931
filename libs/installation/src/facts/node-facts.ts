import { TrustedFileError, type Distrust } from '@wins/trusted-files';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Manifest } from '../manifest/manifest.js';

/** Facts that decide whether a folder may be used. */
export interface FolderFacts {
  /**
   * Reason why other users could change the content of the folder. Undefined when they cannot, and when the folder is missing and its
   * parent is safe.
   */
  readonly distrust?: Distrust | undefined;
  /** Paths in the folder that other users made or can change; listed only when the folder itself is not trusted. */
  readonly strangers: readonly string[];
}

/** Findings on a node, as data. Values that may be secret are digests. */
export interface NodeFacts {
  readonly platform: NodeJS.Platform;
  /** State of each present item by its name; an absent item has no entry. */
  readonly states: ReadonlyMap<string, StateOf>;
  /** By path: folders, and files to be read that other users can change. */
  readonly folders: ReadonlyMap<string, FolderFacts>;
  /** The program that the service runs. */
  readonly program?: { readonly path: string; readonly version?: string | undefined } | undefined;
  readonly isServiceBeingRemoved: boolean;
  /** Bytes of the config, because editors save it in several encodings. */
  readonly config?: Buffer | undefined;
  readonly nodeId?: string | undefined;
  readonly manifest?: Manifest | undefined;
  /**
   * Digests of the files that the running daemon has read, by path, as far as the daemon reports them. A file that differs now requires a
   * restart even if no step changes it.
   */
  readonly loaded?: ReadonlyMap<string, string> | undefined;
}

/** Returns the recorded state of an item; undefined when it is absent. */
export function stateIn<I extends Item>(facts: NodeFacts, item: I): StateOf<I['kind']> | undefined {
  return facts.states.get(itemId(item)) as StateOf<I['kind']> | undefined;
}

/** Returns the judgement of a path; undefined for a path that does not exist. */
export function distrustOf(judge: () => Distrust | undefined): Distrust | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}
