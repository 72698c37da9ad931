import { systemClock } from './system-clock.js';

describe('the clock of this system', () => {
  it('waits also for longer than a timer of Node can, and ends early by its signal alone', async () => {
    const stop = new AbortController();
    const monthMs = 31 * 24 * 60 * 60 * 1000;
    const month = systemClock.wait(monthMs, stop.signal).then(
      () => 'a month',
      () => 'given up',
    );
    const moment = systemClock.wait(20).then(() => 'a moment');
    expect(await Promise.race([month, moment])).toBe('a moment');
    stop.abort(new Error('the agent stops'));
    expect(await month).toBe('given up');
  });
});
