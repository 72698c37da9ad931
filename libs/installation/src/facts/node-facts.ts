import { TrustedFileError, type Distrust } from '@wins/trusted-files';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Manifest } from '../manifest/manifest.js';

export interface FolderFacts {
  /** Reason why others could change the folder; none also for a missing folder with a safe parent. */
  readonly distrust?: Distrust | undefined;
  /** Paths that others made or can change; listed only for an untrusted folder. */
  readonly strangers: readonly string[];
}

/** Findings on a node, as data. Values that may be secret are digests. */
export interface NodeFacts {
  readonly platform: NodeJS.Platform;
  readonly states: ReadonlyMap<string, StateOf>;
  readonly folders: ReadonlyMap<string, FolderFacts>;
  readonly program?: { readonly path: string; readonly version?: string | undefined } | undefined;
  readonly isServiceBeingRemoved: boolean;
  /** Bytes of the config, because editors save it in several encodings. */
  readonly config?: Buffer | undefined;
  readonly nodeId?: string | undefined;
  readonly manifest?: Manifest | undefined;
  /** Digests by path of the files that the running daemon has read. Another file requires a restart. */
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
