import { TokenBucket } from './token-bucket.js';

describe('a token bucket', () => {
  let nowMs: number;
  const bucketOf = (burst: number, perSecond: number) =>
    new TokenBucket({ burst, perSecond }, () => nowMs);
  const takenOf = (bucket: TokenBucket): number => {
    let taken = 0;
    while (bucket.take()) taken += 1;
    return taken;
  };
  beforeEach(() => {
    nowMs = 5_000;
  });

  it('gives its burst at once and then so many a second', () => {
    const bucket = bucketOf(10, 4);
    expect(takenOf(bucket)).toBe(10);
    nowMs += 999;
    expect(takenOf(bucket)).toBe(3);
    nowMs += 1;
    expect(takenOf(bucket)).toBe(1);
  });

  it('never has more than its burst, however long it was left alone and whatever was used before', () => {
    const bucket = bucketOf(10, 4);
    for (let taken = 0; taken < 5; taken += 1) bucket.take();
    nowMs += 1e9;
    expect(takenOf(bucket)).toBe(10);
  });

  it('gives several tokens or none', () => {
    const bucket = bucketOf(10, 4);
    expect([bucket.take(8), bucket.take(3), bucket.take(2), bucket.take(0)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('is empty below one token, and full when nothing is missing', () => {
    const bucket = bucketOf(1, 1);
    expect([bucket.isEmpty, bucket.isFull]).toEqual([false, true]);
    bucket.take();
    nowMs += 999;
    expect([bucket.isEmpty, bucket.isFull]).toEqual([true, false]);
    nowMs += 1;
    expect([bucket.isEmpty, bucket.isFull]).toEqual([false, true]);
  });

  it('takes tokens back up to its burst', () => {
    const bucket = bucketOf(10, 1);
    bucket.take(4);
    bucket.give(3);
    expect(bucket.tokens).toBe(9);
    bucket.give(3);
    expect(bucket.tokens).toBe(10);
  });

  it('owes what was used before it was asked, and not more than its bound', () => {
    const bucket = bucketOf(10, 4);
    bucket.charge(14, 6);
    expect([bucket.tokens, bucket.msUntil(0), bucket.msUntil(1)]).toEqual([-4, 1_000, 1_250]);
    bucket.charge(1e9, 6);
    expect(bucket.tokens).toBe(-6);
    nowMs += 1_500;
    expect([bucket.tokens, bucket.msUntil(0), bucket.msUntil(10)]).toEqual([0, 0, 2_500]);
  });
});
