import { RepeatCounter } from './repeat-counter.js';

describe('a counter of repeated events', () => {
  let told: [string, number][];
  let repeats: RepeatCounter<{ name: string }>;
  beforeEach(() => {
    jest.useFakeTimers();
    told = [];
    repeats = new RepeatCounter(({ name }, times) => told.push([name, times]));
  });
  afterEach(() => jest.useRealTimers());
  const add = (name: string, count = 1): void => {
    for (let index = 0; index < count; index += 1) repeats.add(name, { name });
  };

  it('tells the first of a kind at once and the number of the others after a second', () => {
    add('a', 1000);
    add('b');
    expect(told).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    jest.advanceTimersByTime(1000);
    expect(told.slice(2)).toEqual([['a', 999]]);
  });

  it('begins again after that, and does nothing while nothing comes', () => {
    add('a', 2);
    jest.advanceTimersByTime(1000);
    expect(jest.getTimerCount()).toBe(0);
    add('a');
    expect(told).toEqual([
      ['a', 1],
      ['a', 1],
      ['a', 1],
    ]);
  });

  it('counts kinds without end together, and loses none', () => {
    for (let index = 0; index < 1000; index += 1) add(`${index}`);
    jest.advanceTimersByTime(1000);
    expect(told.length).toBeLessThan(300);
    expect(told.reduce((sum, [, times]) => sum + times, 0)).toBe(1000);
  });

  it('tells what it has counted when it is disposed', () => {
    add('a', 3);
    repeats[Symbol.dispose]();
    expect(told).toEqual([
      ['a', 1],
      ['a', 2],
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
