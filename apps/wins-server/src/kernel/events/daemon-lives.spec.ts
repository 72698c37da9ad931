import { daemonLives } from './daemon-lives.js';
import type { EventFacts, RingEvent } from './ring-files.js';

const AT_MS = Date.parse('2026-11-30T00:00:00Z');

type Told = EventFacts & { readonly type: string };

/** Events a second apart. */
function events(...facts: readonly Told[]): readonly RingEvent[] {
  return facts.map((each, index) => {
    const time = new Date(AT_MS + index * 1000).toISOString();
    return { ...each, seq: index + 1, time };
  });
}

const seconds = (atMs: number | undefined) => atMs && (atMs - AT_MS) / 1000;

describe('the history of the daemon', () => {
  const ofDaemon = (isAnswering: boolean, ...facts: readonly Told[]) =>
    daemonLives(events(...facts), isAnswering).map(({ fromMs, toMs, end }) => [
      seconds(fromMs),
      seconds(toMs),
      end,
    ]);

  it('tells an end that was asked for from one that was not', () => {
    const facts = ['decided', 'stopping', 'started', 'decided', 'started'].map((type) => ({
      type,
    }));
    const ended = [
      [undefined, 1, 'stopped'],
      [2, 3, 'ended unexpectedly'],
    ];
    expect(ofDaemon(true, ...facts)).toEqual([...ended, [4, undefined, undefined]]);
    expect(ofDaemon(false, ...facts)).toEqual([...ended, [4, 4, 'ended unexpectedly']]);
  });

  it('begins with the events of the daemon while it starts', () => {
    const start = [{ type: 'runStarted' }, { type: 'started', ageMs: 1500 }];
    expect(ofDaemon(true, ...start)).toEqual([[-0.5, undefined, undefined]]);
    expect(ofDaemon(true, { type: 'decided' }, ...start)).toEqual([
      [undefined, 0, 'ended unexpectedly'],
      [0.5, undefined, undefined],
    ]);
  });
});
