import { TrustedFileError, type Distrust } from '@wins/trusted-files';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Manifest } from '../manifest/manifest.js';

/** Says whether other users can change a folder, and which paths in it they control. */
export interface FolderFacts {
  /** Why other users could change the folder or, if it is missing, its parent. */
  readonly distrust?: Distrust | undefined;
  /**
   * Paths in the folder that other users own or can change, at most 100. They are listed only if the access list is the
   * folder's sole fault.
   */
  readonly strangers: readonly string[];
}

/** Items by `itemId`, and folders by path. Values that may be secret are present only as digests. */
export interface ItemFacts {
  readonly platform: NodeJS.Platform;
  readonly states: ReadonlyMap<string, StateOf>;
  readonly folders: ReadonlyMap<string, FolderFacts>;
  readonly manifest?: Manifest | undefined;
}

/** State of a node from which `planInstall` works. */
export interface NodeFacts extends ItemFacts {
  /** Program that the service runs, and the release that it reports. */
  readonly program?: { readonly path: string; readonly version?: string | undefined } | undefined;
  readonly isServiceBeingRemoved: boolean;
  /** Not decoded, because editors save it in several encodings. */
  readonly config?: Buffer | undefined;
  readonly nodeId?: string | undefined;
  /** Digest of each file that the daemon has read, by path. If a file no longer has its digest, the daemon must restart. */
  readonly loaded?: ReadonlyMap<string, string> | undefined;
}

/** Returns the state of an item; undefined when the item is absent or was not read. */
export function stateIn<I extends Item>(facts: ItemFacts, item: I): StateOf<I['kind']> | undefined {
  return facts.states.get(itemId(item)) as StateOf<I['kind']> | undefined;
}

export function distrustOf(judge: () => Distrust | undefined): Distrust | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}

/**
 * Whether the folder's own access list is the only fault. Correcting the list does not help if another user owns the
 * folder, because an open handle may keep the right to change the list. Nor does it help if another user could replace
 * the folder in its parent.
 */
export function isListAlone({ rule, path }: Distrust, folder: string): boolean {
  if (path !== folder) return false;
  return rule === 'A7 writable by other users' || rule === 'A7 open to other users';
}
