import { secondsAt, toldEvents, type Told } from '../../testing/told-events.js';
import { daemonLives } from './daemon-lives.js';

describe('the history of the daemon', () => {
  const ofDaemon = (isAnswering: boolean, ...facts: readonly Told[]) =>
    daemonLives(toldEvents(...facts), isAnswering).map(({ fromMs, toMs, end }) => [
      secondsAt(fromMs),
      secondsAt(toMs),
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
