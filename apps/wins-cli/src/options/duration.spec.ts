import { parseDurationMs } from './duration.js';

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['1.5', 1500],
    ['500ms', 500],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['900h', 24 * 3_600_000],
  ])('%s is %i ms', (text, durationMs) => {
    expect(parseDurationMs(text)).toBe(durationMs);
  });

  it.each(['', '-1s', '5 m', '1d', 's', '1e9', 'NaN'])('%j is none', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});
