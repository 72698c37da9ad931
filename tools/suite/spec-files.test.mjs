import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOrderOf } from './spec-files.mjs';

const FILES = Array.from({ length: 10 }, (_, index) => `spec-${index}.ts`);

describe('the order of spec files', () => {
  it('has each file once', () => {
    assert.deepEqual(inOrderOf('a', FILES).sort(), FILES);
  });

  it('is the same for a seed, in whatever order the files come', () => {
    assert.deepEqual(inOrderOf('a', FILES.toReversed()), inOrderOf('a', FILES));
  });

  it('begins with another file for another seed, and with each file for some seed', () => {
    const first = Array.from({ length: 100 }, (_, seed) => inOrderOf(String(seed), FILES)[0]);
    assert.deepEqual([...new Set(first)].sort(), FILES);
  });
});
