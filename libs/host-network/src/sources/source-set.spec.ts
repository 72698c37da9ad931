import { posixFileTrust } from '@wins/trusted-files';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DesiredPeer } from '../plan/judge-peers.js';
import { SourceSet, type WantedSource } from './source-set.js';

const OLD = { id: 'old', subnet: '10.42.2.0/24', nextHop: '172.16.0.2' };
const NEW = { id: 'new', subnet: '10.42.3.0/24', nextHop: '172.16.0.3' };

/** A source that reports one peer, and then ends when the spec says so. */
class OnePeer {
  readonly #peer: DesiredPeer;
  isFollowed = false;
  end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => (this.end = resolve));
  report: () => void = () => undefined;
  readonly #mayReport = new Promise<void>((resolve) => (this.report = resolve));
  #isKept: () => void = () => undefined;
  readonly kept = new Promise<void>((resolve) => (this.#isKept = resolve));

  constructor(peer: DesiredPeer) {
    this.#peer = peer;
  }

  wanted(): ReadonlyMap<'one', WantedSource> {
    const feed: ReturnType<WantedSource['open']>['feed'] = {
      follow: async (listener, { signal }) => {
        this.isFollowed = true;
        await this.#mayReport;
        const facts = { version: '1', skipped: [], skippedCount: 0, isLimited: false };
        await listener.onSnapshot({ ...facts, items: [this.#peer] });
        this.#isKept();
        if (!signal.aborted) await once(signal, 'abort');
        await this.#ended;
      },
    };
    return new Map([['one', { settings: {}, open: () => ({ feed, origin: 'somewhere' }) }]]);
  }
}

it('forgets a source that is turned off, and then keeps the report of one that is turned on', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-source-set-'));
  const [before, next] = [new OnePeer(OLD), new OnePeer(NEW)];
  try {
    await using sources = new SourceSet<'one'>({
      folder,
      trust: posixFileTrust(),
      onChange: () => undefined,
      onWarning: (problem) => {
        throw new Error(problem);
      },
    });
    sources.configure(before.wanted());
    before.report();
    await before.kept;
    sources.configure(new Map());
    sources.configure(next.wanted());
    // Time for the new source to begin too early.
    for (let look = 0; look < 200 && !next.isFollowed; look += 1) await stat(folder);
    const early = sources.peers;
    before.end();
    next.report();
    await next.kept;
    const late = sources.peers;
    next.end();
    await sources.close();
    expect([early, late]).toEqual([[], [NEW]]);
    expect(existsSync(path.join(folder, 'host-network-one.json'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
