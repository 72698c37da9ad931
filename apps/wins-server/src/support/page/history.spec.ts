import { secondsAt, toldEvents, type Told } from '../../testing/told-events.js';
import { momentsOf, refusalCount, runHistories, withUnknownEnds } from './history.js';

describe('the history of a run', () => {
  const run = { name: 'rancher-wins-web', path: '/opt/web' };
  const ofLives = (...facts: readonly Told[]) =>
    runHistories(toldEvents(...facts)).map(({ name, lives, restartsMs }) => ({
      name,
      restarts: restartsMs.length,
      lives: lives.map(({ fromMs, toMs, end, isFailure }) => [
        secondsAt(fromMs),
        secondsAt(toMs),
        end,
        isFailure,
      ]),
    }));

  it('has each attempt with its end, also of attempts that overlap', () => {
    expect(
      ofLives(
        { type: 'runStarted', mark: 'a', ...run },
        { type: 'runStarted', mark: 'b', ...run },
        { type: 'runEnded', mark: 'a', reason: 'exited', code: 3, ...run },
        { type: 'runRestarts', mark: 'a', ...run },
        { type: 'runEnded', mark: 'b', reason: 'stopped', code: 143, signal: 'SIGTERM', ...run },
      ),
    ).toEqual([
      {
        name: 'rancher-wins-web',
        restarts: 1,
        lives: [
          [0, 2, 'exited (code 3)', true],
          [1, 4, 'stopped (SIGTERM)', false],
        ],
      },
    ]);
  });

  it('begins before the first event if only an end is kept', () => {
    const [{ lives } = { lives: [] }] = ofLives({
      type: 'runEnded',
      mark: 'a',
      reason: 'exited',
      code: 0,
      ...run,
    });
    expect(lives).toEqual([[undefined, 0, 'exited (code 0)', false]]);
  });

  it('tells runs of one program apart by their names', () => {
    const labels = ['one', 'other'].map((label) => ({
      type: 'runStarted',
      mark: label,
      label,
      ...run,
    }));
    expect(ofLives(...labels).map(({ name }) => name)).toEqual(['one', 'other']);
  });

  it('has unknown ends, except of those that live', () => {
    const [{ lives } = { lives: [] }] = runHistories(
      toldEvents(
        { type: 'runStarted', mark: 'a', ...run },
        { type: 'runStarted', mark: 'b', ...run },
      ),
    );
    const ends = (alive: number) => withUnknownEnds(lives, alive).map(({ end }) => end);
    expect([ends(2), ends(1), ends(0)]).toEqual([
      [undefined, undefined],
      ['end unknown', undefined],
      ['end unknown', 'end unknown'],
    ]);
  });
});

it('counts the refusals of a flood, which have no events of their own', () => {
  const moments = momentsOf(
    toldEvents(
      { type: 'decided', verdict: 'refused' },
      { type: 'decided', verdict: 'allowed' },
      { type: 'counted', share: 'refused', count: 41 },
      { type: 'counted', share: 'allowed', count: 7 },
      { type: 'counted', share: 'refused', count: 'many' },
    ),
    refusalCount,
  );
  expect(moments.reduce((sum, { count }) => sum + count, 0)).toBe(42);
});
