import { getHeapSpaceStatistics } from 'node:v8';
import { boundHeap } from './bound-heap.js';

const placeBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

it('lets the place for young objects become no larger, whatever survives in it', () => {
  boundHeap();
  const before = placeBytes();
  for (let round = 0; round < 20; round += 1) {
    const survivors = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(survivors).toHaveLength(100_000);
    expect(placeBytes()).toBeLessThanOrEqual(before);
  }
});
