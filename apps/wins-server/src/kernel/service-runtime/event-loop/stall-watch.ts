/** Reports jumps of the wall clock, which explain inconsistent times; on Linux also those of a suspended host. */
export function watchClock(
  jumped: (byMs: number) => void,
  { intervalMs = 1000, toleranceMs = 1000, timeOfDay = () => Date.now() } = {},
): Disposable {
  const offset = (): number => timeOfDay() - performance.now();
  let before = offset();
  const timer = setInterval(() => {
    const byMs = Math.round(offset() - before);
    if (Math.abs(byMs) >= toleranceMs) jumped(byMs);
    before += byMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Reports a blocked event loop, which explains many client-side delays. */
export function watchStalls(
  stalled: (lateMs: number) => void,
  { intervalMs = 1000, toleranceMs = 1000 } = {},
): Disposable {
  let due = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due >= toleranceMs) stalled(Math.round(now - due));
    due = now + intervalMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
