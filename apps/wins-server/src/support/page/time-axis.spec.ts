import { TimeAxis, utc } from './time-axis.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2026-11-30T01:45:07Z');

describe('the time axis of a plot', () => {
  it.each([
    ['of one moment', 0, 2],
    ['of a minute', HOUR_MS / 60, 2],
    ['of an hour', HOUR_MS, 2],
    ['of a day', 24 * HOUR_MS, 60],
    ['of a week', 168 * HOUR_MS, 360],
    ['of a year', 365 * 24 * HOUR_MS, 11_520],
    ['since 1970, as after a start without a clock', NOW_MS, 650_880],
  ])('%s has at most 48 whole periods and seven named times', (_of, lengthMs, minutes) => {
    const axis = new TimeAxis(NOW_MS - lengthMs, NOW_MS);
    expect(axis.binMs).toBe(minutes * 60_000);
    expect(axis.bins).toBe(Math.round(axis.bins));
    expect(axis.bins).toBeLessThanOrEqual(48);
    expect(axis.fromMs % axis.binMs).toBe(0);
    expect([axis.has(NOW_MS - lengthMs), axis.has(NOW_MS)]).toEqual([true, true]);
    expect(axis.ticks.length).toBeGreaterThan(1);
    expect(axis.ticks.length).toBeLessThanOrEqual(7);
  });

  it('keeps times beyond its ends at its ends', () => {
    const axis = new TimeAxis(NOW_MS - HOUR_MS, NOW_MS);
    expect([axis.at(0), axis.at(axis.fromMs), axis.at(2 * NOW_MS)]).toEqual([0, 0, 1]);
  });

  it('writes times in UTC, to the second', () => {
    expect(utc(NOW_MS)).toBe('2026-11-30 01:45:07');
    expect(utc(1e300)).toBe('unknown');
  });
});
