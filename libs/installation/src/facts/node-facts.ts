import { TrustedFileError, type Distrust } from '@wins/trusted-files';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Manifest } from '../manifest/manifest.js';

export interface FolderFacts {
  /** Reason why other users could change the folder; undefined if they cannot, or if it is missing and its parent is safe. */
  readonly distrust?: Distrust | undefined;
  /** Paths in the folder that other users own or can change; listed only if the folder's access list is the only fault. */
  readonly strangers: readonly string[];
}

/** Findings on a node, as data. Values that may be secret are digests. */
export interface NodeFacts {
  readonly platform: NodeJS.Platform;
  readonly states: ReadonlyMap<string, StateOf>;
  readonly folders: ReadonlyMap<string, FolderFacts>;
  readonly program?: { readonly path: string; readonly version?: string | undefined } | undefined;
  readonly isServiceBeingRemoved: boolean;
  /** Raw bytes of the config, not decoded, because editors save it in several encodings. */
  readonly config?: Buffer | undefined;
  readonly nodeId?: string | undefined;
  readonly manifest?: Manifest | undefined;
  /** Digests by path of the files that the running daemon has read. A file with another digest requires a restart. */
  readonly loaded?: ReadonlyMap<string, string> | undefined;
}

export function stateIn<I extends Item>(facts: NodeFacts, item: I): StateOf<I['kind']> | undefined {
  return facts.states.get(itemId(item)) as StateOf<I['kind']> | undefined;
}

/** Undefined for a path that does not exist. */
export function distrustOf(judge: () => Distrust | undefined): Distrust | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}
