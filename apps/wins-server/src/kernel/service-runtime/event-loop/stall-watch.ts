/**
 * Watches for a jump of the time of day, which explains times that do not fit each other, until disposed of. On Linux a host that slept has
 * jumped, too.
 *
 * @param jumped - Gets how far it went, in milliseconds; less than 0: back.
 */
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

/**
 * Watches for a blocked event loop, which explains much of what clients saw, until disposed of.
 *
 * @param toleranceMs - How late a look must be to count, in `stalled` too.
 */
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
