import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { privateFile, type PrivateFileOptions } from '../private-file.js';
import { isElementId, readPeer } from './element-list.js';
import type { LastGood } from './source.js';

const FORMAT = 1;

/** Options of {@link lastGood}. */
export interface LastGoodOptions extends PrivateFileOptions {
  /** Identifies the source and its settings. Data of another origin is ignored. */
  readonly origin: string;
}

/** Stores the last peers in a private file. Methods reject with TrustedFileError. */
export function lastGood({ origin, ...options }: LastGoodOptions): LastGood {
  const state = privateFile(options, parse);
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
      const peer = readPeer(id, subnet, nextHop);
      if (!isElementId(id) || typeof peer === 'string') throw new TypeError('no peer of a source');
      return peer;
    }),
  };
}
