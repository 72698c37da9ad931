import { judgeGreeting, judgePlace, type Holding } from './judge-entry.js';

const client = (key: string) => ({ key, isAdministrator: false, isEverybody: false });
const administrator = { key: 'uid:0', isAdministrator: true, isEverybody: false };
const everybody = { key: 'unknown', isAdministrator: false, isEverybody: true };

describe('a connection that has not greeted', () => {
  it.each<[string, Record<string, number>, string, object]>([
    ['is let in while there is room', { a: 7 }, 'b', { kind: 'admit' }],
    ['is let in, its client having all of it', { a: 7 }, 'a', { kind: 'admit' }],
    ['takes the place of its own oldest', { a: 8 }, 'a', { kind: 'evict', key: 'a' }],
    ['takes the place of whose are the most', { a: 5, b: 3 }, 'c', { kind: 'evict', key: 'a' }],
    ['takes it also as the second', { a: 7, c: 1 }, 'c', { kind: 'evict', key: 'a' }],
    ['takes its own when its are as many', { a: 4, c: 4 }, 'c', { kind: 'evict', key: 'c' }],
    [
      'never takes that of a client with an equal share',
      { a: 2, b: 2, c: 2, d: 2 },
      'a',
      { kind: 'evict', key: 'a' },
    ],
  ])('%s', (_what, greeting, newcomer, verdict) => {
    const counts = new Map(Object.entries(greeting));
    expect(judgeGreeting(counts, { greetings: 8 }, newcomer)).toEqual(verdict);
  });
});

describe('a connection that has greeted', () => {
  const room = { places: 16, placesPerClient: 8, greetings: 8 };
  const full = { kind: 'refuse', rule: 'full' };
  const busy = (places: number): Holding => ({ places, idle: 0 });
  const idle = (places: number, idles = places): Holding => ({ places, idle: idles });

  it.each<[string, Record<string, Holding>, ReturnType<typeof client>, object]>([
    ['gets a place', {}, client('a'), { kind: 'admit' }],
    ['gets the last but one', { a: busy(7), b: busy(7) }, client('c'), { kind: 'admit' }],
    ['leaves the last one to administrators', { a: busy(8), b: busy(7) }, client('c'), full],
    [
      'gets the last one as one of these',
      { a: busy(8), b: busy(7) },
      administrator,
      { kind: 'admit' },
    ],
    ['gets none beyond, whoever it is', { a: busy(8), b: busy(8) }, administrator, full],
    [
      'gets no more than a client may have',
      { a: busy(8) },
      client('a'),
      { kind: 'refuse', rule: 'client-limit' },
    ],
    [
      'takes the place of an idle one of its own beyond that',
      { a: idle(8, 1) },
      client('a'),
      { kind: 'evict', key: 'a' },
    ],
    ['is not limited as an administrator', { 'uid:0': busy(12) }, administrator, { kind: 'admit' }],
    [
      'is not limited where nobody is told apart',
      { unknown: busy(12) },
      everybody,
      { kind: 'admit' },
    ],
    ['finds an end there, too', { unknown: busy(15) }, everybody, full],
    [
      'takes the place of an idle one there',
      { unknown: idle(15) },
      everybody,
      { kind: 'evict', key: 'unknown' },
    ],
    [
      'takes the place of an idle one of who has the most',
      { a: idle(8, 1), b: idle(7) },
      client('c'),
      { kind: 'evict', key: 'a' },
    ],
    [
      'takes none of who has little more than itself',
      Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`${index}`, idle(1)])),
      client('c'),
      full,
    ],
    ['takes none that has a call', { a: busy(8), b: busy(7) }, client('c'), full],
  ])('%s', (_what, holdings, newcomer, verdict) => {
    expect(judgePlace(new Map(Object.entries(holdings)), room, newcomer)).toEqual(verdict);
  });

  it('gets the only place of a house that has one', () => {
    const one = { places: 1, placesPerClient: 1, greetings: 1 };
    expect(judgePlace(new Map(), one, client('a'))).toEqual({ kind: 'admit' });
  });
});
