import { parseDuration } from './index.js';

const HOUR_MS = 3_600_000;
const DAY = { minMs: 0, maxMs: 24 * HOUR_MS };

function refusalOf(text: string, minMs: number, maxMs: number): string {
  try {
    parseDuration(text, { minMs, maxMs });
  } catch (error) {
    if (error instanceof RangeError) return error.message;
  }
  throw new Error(`${text} was not refused`);
}

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['1.5', 1500],
    ['500ms', 500],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['1d', 24 * HOUR_MS],
    ['0.0004s', 0],
  ])('%s is %i ms', (text, durationMs) => {
    expect(parseDuration(text, DAY)).toBe(durationMs);
  });

  it.each([
    '',
    ' 1s',
    '1s\n',
    '-1s',
    '5 m',
    '1w',
    's',
    '.5s',
    '1e9',
    'NaN',
    '0x10',
    '1s'.repeat(17),
  ])('is not %j', (text) => {
    expect(refusalOf(text, 0, HOUR_MS)).toMatch(/^found .*; wanted a duration from 0s to 1h, /);
  });

  it('may be as short and as long as its limits', () => {
    expect(parseDuration('1h', { minMs: 1, maxMs: HOUR_MS })).toBe(HOUR_MS);
    expect(parseDuration('60m', { minMs: 1, maxMs: HOUR_MS })).toBe(HOUR_MS);
    expect(parseDuration('1ms', { minMs: 1, maxMs: HOUR_MS })).toBe(1);
  });

  it.each(['0', '0.4ms', '1h1ms', '900h', '9'.repeat(32)])(
    'beyond its limits is refused, not moved to them: %s',
    (text) => {
      expect(refusalOf(text, 1, HOUR_MS)).toMatch(/^found .*; wanted a duration from 1ms to 1h, /);
    },
  );

  it('that is refused is named, beside what was wanted', () => {
    expect(refusalOf('900h', 0, 90_500)).toBe(
      'found "900h"; wanted a duration from 0s to 1m30s500ms, such as 500ms, 90s or 1m30s',
    );
    expect(refusalOf('\u202e'.repeat(1000), 0, 1000).length).toBeLessThan(150);
  });
});
