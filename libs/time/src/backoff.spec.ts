import { Backoff, backoffMs } from './backoff.js';

const longest = (): number => 1;

describe('a back-off', () => {
  it('doubles its waits up to the longest one', () => {
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 10_000, random: longest });
    const waits = [1, 2, 3, 4, 5, 6].map(() => backoff.nextMs());
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('stays at the longest wait however often something fails', () => {
    expect(backoffMs({ initialMs: 1, maxMs: 500, random: longest }, 1e6)).toBe(500);
  });

  it('begins anew after a reset', () => {
    const backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random: longest });
    expect([backoff.nextMs(), backoff.nextMs()]).toEqual([100, 200]);
    backoff.reset();
    expect(backoff.nextMs()).toBe(100);
  });

  it.each([
    [undefined, [50, 75, 100]],
    [0, [100, 100, 100]],
    [1, [0, 50, 100]],
  ])('shortens waits at random by a share of up to %p', (jitter, wanted) => {
    const waits = [0, 0.5, 0.999_999].map((random) =>
      backoffMs(
        {
          initialMs: 100,
          maxMs: 100,
          random: () => random,
          ...(jitter !== undefined && { jitter }),
        },
        1,
      ),
    );
    expect(waits).toEqual(wanted);
  });

  it('waits by its clock and counts the failure', async () => {
    const waited: number[] = [];
    const clock = {
      now: () => new Date(0),
      monotonicMs: () => 0,
      wait: (ms: number) => Promise.resolve(void waited.push(ms)),
    };
    const backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random: longest });
    await backoff.wait({ clock });
    await backoff.wait({ clock });
    expect(waited).toEqual([100, 200]);
  });

  it('ends its wait with the reason of the signal', async () => {
    const stop = new AbortController();
    const wait = new Backoff({ initialMs: 1e9, maxMs: 1e9 }).wait({ signal: stop.signal });
    stop.abort(new Error('the end'));
    await expect(wait).rejects.toThrow('the end');
  });
});
