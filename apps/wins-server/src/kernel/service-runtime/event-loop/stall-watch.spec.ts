import { watchStalls } from './stall-watch.js';

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
