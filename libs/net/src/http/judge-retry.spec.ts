import fc from 'fast-check';
import { judgeRetry, type RetryFacts, retryAfterMs } from './judge-retry.js';

const first: RetryFacts = {
  isTransient: true,
  retryAfterMs: undefined,
  tries: 1,
  elapsedMs: 0,
  timeoutMs: 900_000,
  random: 1,
};

describe('the wait before another attempt', () => {
  it('doubles from 1 s to 30 s', () => {
    const waits = [1, 2, 3, 4, 5, 6, 100].map((tries) => judgeRetry({ ...first, tries }));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('is shorter by up to a half at random', () => {
    expect(judgeRetry({ ...first, tries: 6, random: 0 })).toBe(15_000);
  });

  it('is as long as the server wants', () => {
    expect(judgeRetry({ ...first, retryAfterMs: 5000 })).toBe(5000);
  });

  it('is none for what will not change', () => {
    expect(judgeRetry({ ...first, isTransient: false })).toBeUndefined();
  });

  it('never ends after the timeout', () => {
    const facts = fc.record({
      isTransient: fc.constant(true),
      retryAfterMs: fc.option(fc.nat(400_000), { nil: undefined }),
      tries: fc.integer({ min: 1, max: 5000 }),
      elapsedMs: fc.nat(1_000_000),
      timeoutMs: fc.nat(1_000_000),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(facts, (each) => {
        const waitMs = judgeRetry(each);
        if (waitMs === undefined) return;
        expect(each.elapsedMs + waitMs).toBeLessThan(each.timeoutMs);
        expect(waitMs).toBeGreaterThanOrEqual(Math.max(500, each.retryAfterMs ?? 0));
      }),
    );
  });
});

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-11-22T00:00:00Z');

  it.each([
    ['5', 5000],
    [' 0 ', 0],
    ['Sun, 22 Nov 2026 00:00:07 GMT', 7000],
    ['Sat, 21 Nov 2026 00:00:07 GMT', 0],
    ['999999999', 300_000],
    ['9999999999999', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (header, ms) => {
    expect(retryAfterMs(header, nowMs)).toBe(ms);
  });
});
