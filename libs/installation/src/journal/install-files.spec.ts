import * as z from 'zod';
import { readableJson } from './install-files.js';

describe('what a file of the installation begins with', () => {
  const schema = z.object({ values: z.array(z.string()).max(1000) });

  it.each([
    ['is too large', 300, 'wanted at most 8388608 in all'],
    ['has too many values', 1001, 'wanted at most 1000 items'],
  ])('names the limit that it is beyond: it %s', (_what, count, wanted) => {
    const value = 'x'.repeat(count === 300 ? 32_000 : 1);
    const values = Array.from({ length: count }, () => value);
    expect(() => readableJson(schema, { values }, 'write it down')).toThrow(wanted);
  });
});
