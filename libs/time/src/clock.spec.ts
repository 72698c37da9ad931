import { systemClock } from './clock.js';

const MONTH_MS = 31 * 24 * 60 * 60 * 1000;

describe('the clock of this system', () => {
  it('waits also for longer than a timer of Node can, and ends early by its signal alone', async () => {
    const stop = new AbortController();
    const month = systemClock.wait(MONTH_MS, { signal: stop.signal }).then(
      () => 'a month',
      (error: unknown) => error,
    );
    const moment = systemClock.wait(20).then(() => 'a moment');
    expect(await Promise.race([month, moment])).toBe('a moment');
    const reason = new Error('the agent stops');
    stop.abort(reason);
    expect(await month).toBe(reason);
  });

  it('does not begin to wait after the signal has aborted', async () => {
    const reason = new Error('over');
    await expect(systemClock.wait(MONTH_MS, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });

  it('tells the time of day', () => {
    const beforeMs = Date.now();
    expect(systemClock.now().getTime()).toBeGreaterThanOrEqual(beforeMs);
  });
});
