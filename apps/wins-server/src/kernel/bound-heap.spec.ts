import { getHeapSpaceStatistics } from 'node:v8';
import { boundHeap } from './memory.js';

/** Capacity of the young generation in bytes. V8 14 commits its pages one by one, so the committed size is no measure. */
const youngBytes = (): number => {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return space === undefined ? NaN : space.space_used_size + space.space_available_size;
};

it('lets the space for young objects grow no larger, whatever survives in it', () => {
  boundHeap();
  const before = youngBytes();
  const sizes = Array.from({ length: 20 }, () => {
    const survivors = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(survivors).toHaveLength(100_000);
    return youngBytes();
  });
  // When V8 grows the young generation, it doubles the capacity. A smaller increase is allowed here, because surviving objects may exceed the
  // capacity until the next collection.
  expect(Math.max(...sizes)).toBeLessThan(2 * before);
});
