import { StateFile } from '@wins/files';
import { replaceFile, type FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { elementFault, isElementId } from './element-list.js';
import type { LastGood } from './source.js';

const FORMAT = 1;
/** Enough for 1,024 peers with the longest ids. */
const MAX_BYTES = 1024 * 1024;

export interface LastGoodOptions {
  /** Absolute path; the folder is made private before each write. */
  readonly path: string;
  /** Identifies the source and its settings; data of another origin is ignored. */
  readonly origin: string;
  readonly trust: Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;
  /** Called for an invalid file; it counts as empty. */
  readonly onDamaged: (file: string) => void;
}

/** Stores the last peers in a private file. Both methods reject with TrustedFileError. */
export function lastGood({ path: file, origin, trust, onDamaged }: LastGoodOptions): LastGood {
  const state = new StateFile<{ readonly origin: string; readonly peers: readonly DesiredPeer[] }>({
    ...{ path: file, maxBytes: MAX_BYTES, trust, parse },
    damaged: () => {
      onDamaged(file);
      return undefined;
    },
    replace: async (place, content) => {
      trust.ensurePrivateFolder(path.dirname(place));
      await replaceFile(place, content);
    },
  });
  return {
    read: async () => {
      const content = await state.read();
      return content?.origin === origin ? content.peers : undefined;
    },
    write: (peers) => state.write({ format: FORMAT, origin, peers }),
  };
}

function parse(json: unknown): { readonly origin: string; readonly peers: readonly DesiredPeer[] } {
  const { format, origin, peers } = json as Readonly<Record<string, unknown>>;
  const isOurs = format === FORMAT && typeof origin === 'string' && Array.isArray(peers);
  if (!isOurs || peers.length > MAX_PEERS) throw new TypeError('no peers of a source');
  return {
    origin,
    peers: peers.map((json): DesiredPeer => {
      const { id, subnet, nextHop } = json as DesiredPeer;
      if (!isElementId(id) || elementFault(subnet, nextHop) !== undefined)
        throw new TypeError('no peer of a source');
      return { id, subnet, nextHop };
    }),
  };
}
