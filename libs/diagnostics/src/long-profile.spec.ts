import { startLongProfile } from './index.js';

function countUpTo(limit: number): number {
  let sum = 0;
  for (let number = 0; number < limit; number += 1) sum += Math.sqrt(number);
  return sum;
}

describe('a profile of a whole run', () => {
  it('of the processor has the functions that ran', async () => {
    using profile = await startLongProfile('cpu');
    countUpTo(50_000_000);
    const { nodes } = JSON.parse(await profile.finish()) as {
      nodes: { callFrame: { functionName: string } }[];
    };
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('countUpTo');
  });

  it('of the heap has who made what is held, and none of what is in it', async () => {
    using profile = await startLongProfile('heap');
    const held = Array.from({ length: 100_000 }, (_, index) => `canary-${index}`);
    const text = await profile.finish();
    expect(held).toHaveLength(100_000);
    expect(JSON.parse(text)).toHaveProperty('head.children');
    expect(text).not.toContain('canary-');
  });
});
