import { parseUnixDate, unixDate } from './unix-date.js';

describe('unixDate', () => {
  it('pads the day with a space, in UTC', () => {
    expect(unixDate(new Date('2026-11-02T00:31:01.999Z'))).toBe('Mon Nov  2 00:31:01 UTC 2026');
    expect(unixDate(new Date('2026-11-22T23:05:09Z'))).toBe('Sun Nov 22 23:05:09 UTC 2026');
  });

  it('is read back to the second', () => {
    const date = new Date('2024-02-29T12:00:00Z');
    expect(parseUnixDate(unixDate(date))).toEqual(date);
  });
});

describe('parseUnixDate', () => {
  it('reads a zone that is written as a number', () => {
    expect(parseUnixDate('Sun Nov 22 00:31:01 -03 2026')).toEqual(new Date('2026-11-22T03:31:01Z'));
    expect(parseUnixDate('Sun Nov 22 00:31:01 +0530 2026')).toEqual(
      new Date('2026-11-21T19:01:01Z'),
    );
  });

  it('takes an abbreviation for the zone of the node', () => {
    expect(parseUnixDate('Sun Nov 22 00:31:01 CET 2026')).toEqual(new Date(2026, 10, 22, 0, 31, 1));
  });

  it.each([
    '',
    'now',
    '2026-11-22T00:31:01Z',
    'Sun Feb 30 00:31:01 UTC 2026',
    'Sun Nov 22 25:31:01 UTC 2026',
    'Sun Foo 22 00:31:01 UTC 2026',
  ])('does not read %j', (text) => {
    expect(parseUnixDate(text)).toBeUndefined();
  });
});
