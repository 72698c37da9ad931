import { FakeClock } from '@wins/base/testing';
import type { Clock } from '../ports.js';
import { supervise } from './supervise.js';

const MINUTE_MS = 60_000;

describe('a source that ends again and again', () => {
  /** Returns the wait after the third run, which lasts for `ranMs`. Meanwhile the clock is set by `setMs`. */
  async function thirdWaitMs(ranMs: number, setMs: number): Promise<number> {
    const time = new FakeClock();
    let wrongMs = 0;
    const clock: Clock = {
      now: () => new Date(time.now().getTime() + wrongMs),
      monotonicMs: () => time.monotonicMs(),
      wait: (ms, options) => time.wait(ms, options),
    };
    const ended = new AbortController();
    let end = (): void => undefined;
    let starts = 0;
    const run = (): Promise<void> => {
      starts += 1;
      return starts < 3 ? Promise.reject(new Error('broken')) : new Promise((go) => (end = go));
    };
    const supervised = supervise(
      { source: 's', clock, onEvent: () => undefined },
      run,
      ended.signal,
    );
    for (let waits = 0; waits < 2; waits += 1) {
      await time.waiting();
      time.advance(MINUTE_MS);
    }
    while (starts < 3) await new Promise((resolve) => setImmediate(resolve));
    time.advance(ranMs);
    wrongMs = setMs;
    end();
    await time.waiting();
    const [waitMs = 0] = time.waits;
    ended.abort();
    await supervised;
    return waitMs;
  }

  it.each([0, 60 * MINUTE_MS])(
    'waits longer each time, also if the clock is set by %i ms',
    async (setMs) => expect(await thirdWaitMs(MINUTE_MS, setMs)).toBeGreaterThanOrEqual(2_000),
  );

  it.each([0, -60 * MINUTE_MS])(
    'waits for a second at most after a run of 11 minutes, also if the clock is set by %i ms',
    async (setMs) => expect(await thirdWaitMs(11 * MINUTE_MS, setMs)).toBeLessThanOrEqual(1_000),
  );
});
