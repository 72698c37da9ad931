import { observedProcess } from '@wins/base/testing';
import { parseSince } from './parse-since.js';

describe('the time from which on records are shown', () => {
  const now = Date.parse('2026-03-02T12:00:00Z');
  const { env } = observedProcess;
  const { TZ: zone } = env;
  beforeAll(() => {
    env['TZ'] = 'Asia/Tokyo';
    expect(new Date('2026-03-01T00:00').toISOString()).toBe('2026-02-28T15:00:00.000Z');
  });
  afterAll(() => {
    if (zone === undefined) delete env['TZ'];
    else env['TZ'] = zone;
  });

  it.each([
    ['90s', '2026-03-02T11:58:30.000Z'],
    ['2h30m', '2026-03-02T09:30:00.000Z'],
    ['36500d', '1926-03-27T12:00:00.000Z'],
    ['7d', '2026-02-23T12:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01 12:00', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:01.5', '2026-03-01T12:00:01.500Z'],
    ['2026-03-01 12:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:01.5+01:00', '2026-03-01T11:00:01.500Z'],
  ])('is understood: %s', (text, time) => {
    expect(parseSince(text, now)?.toISOString()).toBe(time);
  });

  it.each([
    '',
    'yesterday',
    '5',
    '-5s',
    '5w',
    '2026',
    '2026-13-01',
    '2026-02-29',
    '2026-04-31T12:00Z',
    '36501d',
  ])('is not understood: %j', (text) => {
    expect(parseSince(text, now)).toBeUndefined();
  });
});
