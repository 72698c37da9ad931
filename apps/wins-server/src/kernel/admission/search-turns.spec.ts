import { setImmediate as turn } from 'node:timers/promises';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { ClientScheduler, type Turn } from './client-scheduler.js';
import { resourceTable } from './resources.js';
import { searchInTurn } from './search-turns.js';
import { Shares } from './shares.js';

const OTHER = { ...CONTAINER, key: 'container:other' };
const { signal } = new AbortController();

describe('searches of kept output', () => {
  let searches: Shares;
  let scheduler: ClientScheduler;
  let turns: Turn[];
  beforeEach(() => {
    turns = [];
    searches = new Shares(resourceTable(4096).searches);
    scheduler = new ClientScheduler({ ended: (each) => turns.push(each) });
  });
  afterEach(() => scheduler[Symbol.dispose]());

  it('are charged to their client piece by piece, and give back their place', async () => {
    const search = searchInTurn(CONTAINER, searches, scheduler);
    const found = await search(signal, async (inTurn) => {
      for (let piece = 0; piece < 3; piece += 1) await inTurn?.(() => undefined);
      return 'found';
    });
    await turn();
    expect(found).toBe('found');
    expect(turns.map(({ client, what }) => [client.key, what])).toEqual(
      Array.from({ length: 3 }, () => [CONTAINER.key, 'search of output']),
    );
    expect(searches.held).toBe(0);
  });

  it('run few at a time, those of one client do not keep out another, and one that is left never begins', async () => {
    const begun: string[] = [];
    let end = (): void => undefined;
    const ending = new Promise<void>((resolve) => (end = resolve));
    const begin = (client: typeof CONTAINER, name: string, leaving = signal) =>
      searchInTurn(
        client,
        searches,
        scheduler,
      )(leaving, () => {
        begun.push(name);
        return ending;
      });
    const gone = new AbortController();
    const all = [1, 2, 3, 4, 5].map((number) => begin(CONTAINER, `one ${number}`));
    const left = begin(CONTAINER, 'left', gone.signal);
    all.push(begin(OTHER, 'other'), begin(ADMINISTRATOR, 'administrator'));
    gone.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await turn();
    expect(begun).toEqual(['one 1', 'one 2', 'other', 'administrator']);
    end();
    await Promise.all(all);
    expect(begun).toHaveLength(7);
    expect(begun).not.toContain('left');
  });

  it('end with their signal, also while a piece of their work waits for a turn that never comes', async () => {
    const gone = new AbortController();
    const search = searchInTurn(CONTAINER, searches, scheduler);
    let works = 0;
    const left = search(gone.signal, async (inTurn) => {
      // Another client has the turn, so this piece waits.
      scheduler.tasksOf(OTHER, 'other').run(0, () => undefined);
      const piece = inTurn?.(() => void (works += 1));
      scheduler[Symbol.dispose]();
      gone.abort(new Error('gone'));
      await piece;
    });
    await expect(left).rejects.toThrow('gone');
    expect([works, searches.held]).toEqual([0, 0]);
  });

  it('fail with the error of their work, which ends nothing else', async () => {
    const search = searchInTurn(CONTAINER, searches, scheduler);
    const failing = search(signal, async (inTurn) => {
      await inTurn?.(() => {
        throw new Error('damaged');
      });
    });
    await expect(failing).rejects.toThrow('damaged');
    expect(searches.held).toBe(0);
  });
});
