import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TransientMap } from './transient-map.js';

describe('a map of what comes and goes', () => {
  it('has what was set and not deleted, in the order in which it came', () => {
    const map = new TransientMap<number, string>();
    for (const key of [3, 1, 2]) map.set(key, `value ${key}`);
    map.set(1, 'another');
    expect([map.delete(3), map.delete(3), map.has(3), map.get(3)]).toEqual([
      true,
      false,
      false,
      undefined,
    ]);
    expect([map.size, map.has(1), map.get(1)]).toEqual([2, true, 'another']);
    expect([[...map.keys()], [...map.values()]]).toEqual([
      [1, 2],
      ['another', 'value 2'],
    ]);
  });

  it('goes on from what is deleted while it is walked through', () => {
    const map = new TransientMap<number, number>();
    for (const key of [1, 2, 3, 4]) map.set(key, key);
    const seen: number[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(value);
      map.delete(3);
    }
    expect(seen).toEqual([1, 2, 4]);
    expect(map.size).toBe(0);
  });

  it('leaves nothing of what is deleted to a collection of the whole heap', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const map = new TransientMap<number, number[]>();
    const elements = 1000;
    const kept = 16;
    const all = 4000;
    map.set(0, []);
    for (let n = 0; n < 3; n += 1) collect();
    const before = process.memoryUsage().heapUsed;
    for (let key = 1; key <= all; key += 1) {
      map.set(key, new Array<number>(elements).fill(key));
      map.delete(key - kept);
      if (key % 100 === 0) collect({ type: 'minor' });
    }
    const grown = process.memoryUsage().heapUsed - before;
    expect(grown / (all * elements * 8)).toBeLessThan(0.25);
  });
});
