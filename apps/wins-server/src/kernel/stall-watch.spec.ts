import { watchClock, watchStalls } from './watch-process.js';

const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it('tells how long nothing could be done, and nothing while all is well', async () => {
  const told: number[] = [];
  let tell: () => void = () => undefined;
  const stalled = (lateMs: number): void => {
    told.push(lateMs);
    tell();
  };
  using _watch = watchStalls(stalled, { intervalMs: 5, toleranceMs: 10_000 });
  const first = new Promise<void>((resolve) => (tell = resolve));
  using _strict = watchStalls(stalled, { intervalMs: 5, toleranceMs: 200 });
  standStill(300);
  await first;
  expect(told).toHaveLength(1);
  expect(told[0]).toBeGreaterThanOrEqual(200);
});

it('tells how far the time of day jumped, and nothing while it goes on', async () => {
  let aheadMs = 0;
  const told: number[] = [];
  let tell: () => void = () => undefined;
  const jumped = (byMs: number): void => {
    told.push(Math.round(byMs / 60_000));
    tell();
  };
  const options = { intervalMs: 5, toleranceMs: 60_000, timeOfDay: () => Date.now() + aheadMs };
  using _watch = watchClock(jumped, options);
  for (const jumpMs of [3_600_000, -7_200_000]) {
    const next = new Promise<void>((resolve) => (tell = resolve));
    aheadMs += jumpMs;
    await next;
  }
  expect(told).toEqual([60, -120]);
});
