import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shareOf } from './spec-files.mjs';

const FILES = Array.from({ length: 10 }, (_, index) => `spec-${index}.ts`);

describe('a share of spec files', () => {
  it('has one of so many files, and at least one', () => {
    assert.equal(shareOf(FILES, 3, 'a').length, 4);
    assert.equal(shareOf(FILES, 100, 'a').length, 1);
    assert.deepEqual(shareOf(FILES, 1, 'a'), FILES);
    assert.deepEqual(shareOf([], 3, 'a'), []);
  });

  it('is the same for a seed, in whatever order the files come', () => {
    assert.deepEqual(shareOf(FILES.toReversed(), 3, 'a'), shareOf(FILES, 3, 'a'));
  });

  it('leaves out no file for ever', () => {
    const tried = Array.from({ length: 50 }, (_, seed) => shareOf(FILES, 3, String(seed)));
    assert.deepEqual([...new Set(tried.flat())].sort(), FILES);
  });
});
