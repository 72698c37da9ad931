import { TrustedFileError, type Distrust } from '@wins/trusted-files';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Manifest } from '../manifest/manifest.js';

/** Whether a folder may be used. */
export interface FolderFacts {
  /** Why others could change what is in it; undefined when they cannot, or where there is no such folder and the one above is safe. */
  readonly distrust?: Distrust | undefined;
  /** Paths in it that others made or can change; listed only where the folder itself is not trusted. */
  readonly strangers: readonly string[];
}

/** Findings on a node, as data. They hold digests where a value may be secret. */
export interface NodeFacts {
  readonly platform: NodeJS.Platform;
  /** State of each present item by its name; an item that is missing here is absent. */
  readonly states: ReadonlyMap<string, StateOf>;
  /** By path: folders, and files that are read and that others can change. */
  readonly folders: ReadonlyMap<string, FolderFacts>;
  /** The program that the service runs. */
  readonly program?: { readonly path: string; readonly version?: string | undefined } | undefined;
  readonly isServiceBeingRemoved: boolean;
  /** The bytes of the config: people save it in several encodings. */
  readonly config?: Buffer | undefined;
  readonly nodeId?: string | undefined;
  readonly manifest?: Manifest | undefined;
  /**
   * The digests of the files that the running daemon has read, by path, as far as it tells. What it has read and is another now needs
   * a restart, although no step changes it.
   */
  readonly loaded?: ReadonlyMap<string, string> | undefined;
}

/** The state of a thing as it was found; undefined when it is absent. */
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
