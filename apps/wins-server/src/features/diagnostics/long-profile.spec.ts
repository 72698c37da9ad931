import { Session } from 'node:inspector';
import { startLongProfile } from './recording.js';

function countUpTo(limit: number): number {
  let sum = 0;
  for (let number = 0; number < limit; number += 1) sum += Math.sqrt(number);
  return sum;
}

describe('a profile of a whole run', () => {
  it.each(['cpu', 'heap'] as const)(
    'of kind %s that cannot start leaves no session',
    async (kind) => {
      const ended = jest.spyOn(Session.prototype, 'disconnect');
      // Acts like a release of Node that lacks the method.
      jest
        .spyOn(Session.prototype, 'post')
        .mockImplementationOnce((_method: string, _parameters?: object, told?: unknown) =>
          (told as (error: object) => void)({ message: 'not found' }),
        );
      await expect(startLongProfile(kind)).rejects.toMatchObject({ code: 'unavailable' });
      expect(ended).toHaveBeenCalledTimes(1);
      jest.restoreAllMocks();
    },
  );

  it('of the processor has the functions that ran', async () => {
    using profile = await startLongProfile('cpu');
    countUpTo(5_000_000);
    const { nodes } = JSON.parse(await profile.finish()) as {
      nodes: { callFrame: { functionName: string } }[];
    };
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('countUpTo');
  });

  it('of the heap names the functions that allocated memory, and shows none of its content', async () => {
    using profile = await startLongProfile('heap');
    const held = Array.from({ length: 100_000 }, (_, index) => `canary-${index}`);
    const text = await profile.finish();
    expect(held).toHaveLength(100_000);
    expect(JSON.parse(text)).toHaveProperty('head.children');
    expect(text).not.toContain('canary-');
  });
});
